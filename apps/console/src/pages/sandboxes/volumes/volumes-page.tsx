import type { Volume } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { HardDrive, Plus } from 'lucide-react';
import { useState } from 'react';
import { useSandboxes, volumesQuery } from '../../../api/sandboxes.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Page } from '../../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { useLiveSandboxes } from '../detail/use-live-sandboxes.ts';
import { useMissingCapabilities } from '../detail/use-missing-capabilities.ts';
import { SandboxesTabs } from '../list/sandboxes-tabs.tsx';
import { volumeColumns } from './volume-columns.tsx';
import { CreateVolumeDialog, DeleteVolumeDialog, ResizeVolumeDialog } from './volume-dialogs.tsx';

/** Volumes of the workspace, and which sandboxes mount them. */
export function VolumesPage() {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const volumes = useQuery(volumesQuery(api, workspace));
  const [isCreating, setCreating] = useState(false);
  const [resizing, setResizing] = useState<Volume | null>(null);
  const [deleting, setDeleting] = useState<Volume | null>(null);
  const isSupported = !useMissingCapabilities().has('volumes');
  useLiveSandboxes(null);
  const actions = mayWrite(workspace) ? { resize: setResizing, remove: setDeleting } : null;
  return (
    <Page
      title="Volumes"
      description="File systems that are kept when sandboxes are deleted. Mount them when you create a sandbox."
      navigation={<SandboxesTabs current="volumes" />}
      actions={
        actions !== null &&
        isSupported && (
          <Button variant="primary" icon={<Plus size={15} />} onClick={() => setCreating(true)}>
            New volume
          </Button>
        )
      }
    >
      {volumes.isError ? (
        <ErrorState error={volumes.error} onRetry={() => void volumes.refetch()} />
      ) : (
        <Table
          caption="Volumes of the workspace"
          columns={volumeColumns(workspace, actions)}
          rows={volumes.data}
          rowKey={({ id }) => id}
          empty={
            isSupported ? (
              <EmptyState icon={<HardDrive size={18} />} title="No volumes yet">
                Create a volume to keep files beyond the life of a sandbox.
              </EmptyState>
            ) : (
              <EmptyState icon={<HardDrive size={18} />} title="Volumes are not available here">
                They need the local driver for sandboxes, which this platform does not use.
              </EmptyState>
            )
          }
        />
      )}
      <CreateVolumeDialog open={isCreating} onClose={() => setCreating(false)} />
      <ResizeVolumeDialog volume={resizing} onClose={() => setResizing(null)} />
      <DeleteVolumeDialog volume={deleting} onClose={() => setDeleting(null)} />
    </Page>
  );
}
