import { useQuery } from '@tanstack/react-query';
import { Camera, GitFork } from 'lucide-react';
import { useState } from 'react';
import { snapshotsQuery, useSandboxes } from '../../../api/sandboxes.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { useSandbox } from '../../../layouts/sandbox-layout.tsx';
import { PageActions } from '../../../ui/page.tsx';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { ForkDialog, TakeSnapshotDialog } from './snapshot-dialogs.tsx';
import { SnapshotTable } from './snapshot-table.tsx';

type Asked = 'take' | 'fork' | null;

export function SnapshotsPage() {
  const sandbox = useSandbox();
  const workspace = useWorkspace();
  const [asked, setAsked] = useState<Asked>(null);
  return (
    <>
      {mayWrite(workspace) && (
        <PageActions>
          <Button icon={<GitFork size={15} />} onClick={() => setAsked('fork')}>
            Fork
          </Button>
          <Button variant="primary" icon={<Camera size={15} />} onClick={() => setAsked('take')}>
            Take snapshot
          </Button>
        </PageActions>
      )}
      <Snapshots sandbox={sandbox} />
      <TakeSnapshotDialog open={asked === 'take'} sandbox={sandbox} onClose={() => setAsked(null)} />
      <ForkDialog open={asked === 'fork'} sandbox={sandbox} onClose={() => setAsked(null)} />
    </>
  );
}

function Snapshots({ sandbox }: { sandbox: Sandbox }) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const snapshots = useQuery(snapshotsQuery(api, workspace));
  if (snapshots.isError) return <ErrorState error={snapshots.error} onRetry={() => void snapshots.refetch()} />;
  return (
    <SnapshotTable
      caption="Snapshots of this sandbox"
      snapshots={snapshots.data?.filter((each) => each.sandbox_id === sandbox.id)}
      empty={
        <EmptyState icon={<Camera size={18} />} title="No snapshots yet">
          A snapshot keeps the current files. Create any number of sandboxes from it.
        </EmptyState>
      }
    />
  );
}
