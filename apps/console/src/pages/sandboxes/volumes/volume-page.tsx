import { NotFoundError, type Volume } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Scaling, Trash2 } from 'lucide-react';
import { Fragment, useState } from 'react';
import { useSandboxes, volumeQuery } from '../../../api/sandboxes.ts';
import { MissingPage } from '../../../layouts/missing-page.tsx';
import { paths } from '../../../routes/paths.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { FactLine } from '../../../ui/fact-line.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { Page } from '../../../ui/page.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/states.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { useLiveSandboxes } from '../detail/use-live-sandboxes.ts';
import { FileBrowser } from '../files/file-browser.tsx';
import { FilesError } from '../files/files-error.tsx';
import { DeleteVolumeDialog, ResizeVolumeDialog } from './volume-dialogs.tsx';

const route = getRouteApi('/shell/w/$workspace/sandboxes/volumes/$volume');

/** A volume with its files, whether or not sandboxes mount it. */
export function VolumePage() {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const { volume: name } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(volumeQuery(api, workspace, name));
  useLiveSandboxes(null);
  const parent = { label: 'Volumes', link: { to: paths.volumes, params: { workspace: workspace.uuid } } };
  if (error instanceof NotFoundError) return <MissingPage what="Volume" parent={parent} />;
  return (
    <Page
      title={name}
      parent={parent}
      description={data === undefined ? <Skeleton width="14rem" /> : <Facts volume={data} />}
      actions={data !== undefined && mayWrite(workspace) && <Actions volume={data} />}
    >
      {data !== undefined ? (
        <FileBrowser
          key={name}
          owner={{ kind: 'volume', id: name }}
          search={search}
          onGo={(next, options) => void navigate({ search: next, resetScroll: false, ...options })}
        />
      ) : error === null ? (
        <LoadingRegion height="20rem" />
      ) : (
        <FilesError error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

const MOST_MOUNTERS_SHOWN = 5;

function Facts({ volume }: { volume: Volume }) {
  return (
    <FactLine>
      <span>{formatBytes(volume.size_mb * 1024 ** 2)}</span>
      <Mounters mounters={volume.mounted_by} />
      <span>
        Created <RelativeTime at={volume.created_at} />
      </span>
    </FactLine>
  );
}

function Mounters({ mounters }: { mounters: Volume['mounted_by'] }) {
  const workspace = useWorkspace();
  if (mounters.length === 0) return <span>Not mounted</span>;
  const shown = mounters.slice(0, MOST_MOUNTERS_SHOWN);
  return (
    <span>
      Mounted by{' '}
      {shown.map(({ sandbox_id: id, sandbox_name: name, read_only: isReadOnly }, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <Link to={paths.sandbox} params={{ workspace: workspace.uuid, sandbox: id }}>
            {name}
          </Link>
          {isReadOnly && ' (read-only)'}
        </Fragment>
      ))}
      {mounters.length > shown.length && ` and ${mounters.length - shown.length} more`}
    </span>
  );
}

function Actions({ volume }: { volume: Volume }) {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'resize' | 'delete' | null>(null);
  const close = (): void => setDialog(null);
  return (
    <>
      <Button icon={<Scaling size={15} />} onClick={() => setDialog('resize')}>
        Resize…
      </Button>
      <Button icon={<Trash2 size={15} />} onClick={() => setDialog('delete')}>
        Delete…
      </Button>
      <ResizeVolumeDialog volume={dialog === 'resize' ? volume : null} onClose={close} />
      <DeleteVolumeDialog
        volume={dialog === 'delete' ? volume : null}
        onClose={close}
        onDeleted={() => navigate({ to: paths.volumes, params: { workspace: workspace.uuid } })}
      />
    </>
  );
}
