import type { Workspace } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { Ellipsis, FolderOpen, Play, RotateCcw, Settings, Square, SquareTerminal, Trash2 } from 'lucide-react';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { paths } from '../../../routes/paths.ts';
import { Badge, Status } from '../../../ui/badge.tsx';
import { IconButton } from '../../../ui/button.tsx';
import { classNames } from '../../../ui/class-names.ts';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { Menu, MenuItem, MenuSeparator } from '../../../ui/menu.tsx';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { selectColumn } from '../../../ui/selection.tsx';
import type { Selection } from '../../../ui/use-selection.ts';
import { describeFault, statusLabel } from '../detail/sandbox-labels.ts';
import { useSandboxActions } from '../detail/use-sandbox-actions.ts';
import styles from './list.module.css';

export interface SandboxColumnsOptions {
  workspace: Workspace;
  selection: Selection<Sandbox>;
  /** Null for read-only users. */
  onDelete: ((sandboxes: readonly Sandbox[]) => void) | null;
}

export function sandboxColumns({ workspace, selection, onDelete }: SandboxColumnsOptions): Column<Sandbox>[] {
  const columns: Column<Sandbox>[] = [
    { id: 'name', header: 'Name', cell: (sandbox) => <NameCell workspace={workspace} sandbox={sandbox} /> },
    {
      id: 'status',
      header: 'Status',
      width: '7rem',
      narrowWidth: '5.75rem',
      cell: (sandbox) => {
        const { label, tone, live } = statusLabel(sandbox);
        return (
          <Status tone={tone} live={live}>
            {label}
          </Status>
        );
      },
    },
    { id: 'image', header: 'Image', width: '8rem', wideOnly: true, cell: ({ image }) => image },
    {
      id: 'resources',
      header: 'Resources',
      width: '9rem',
      wideOnly: true,
      cell: ({ resources }) => `${resources.cpu} CPU, ${formatBytes(resources.memory_mb * 1024 ** 2)}`,
    },
    {
      id: 'used',
      header: 'Last used',
      width: '7.5rem',
      wideOnly: true,
      cell: (sandbox) => (
        <span className="muted">
          <RelativeTime at={sandbox.last_activity_at} />
        </span>
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: 'calc(2 * var(--control-small) + 2rem)',
      cell: (sandbox) => <Actions workspace={workspace} sandbox={sandbox} onDelete={onDelete} />,
    },
  ];
  if (onDelete === null) return columns;
  return [selectColumn(selection, ({ name }) => name), ...columns];
}

function NameCell({ workspace, sandbox }: { workspace: Workspace; sandbox: Sandbox }) {
  const labels = Object.entries(sandbox.labels);
  return (
    <span className={styles['name']}>
      <span className={styles['nameLine']}>
        <Link to={paths.sandbox} params={{ workspace: workspace.uuid, sandbox: sandbox.id }}>
          {sandbox.name}
        </Link>
        <span className={styles['labels']}>
          {labels.slice(0, 2).map(([key, value]) => (
            <Badge key={key}>{value === '' ? key : `${key}=${value}`}</Badge>
          ))}
          {labels.length > 2 && <Badge>+{labels.length - 2}</Badge>}
        </span>
      </span>
      <Under sandbox={sandbox} />
    </span>
  );
}

/** What blocks the sandbox: an error's cause, or the progress of its image. */
function Under({ sandbox: { status, error, image_progress: progress } }: { sandbox: Sandbox }) {
  if (status === 'error' && error !== null) {
    const { title, remedy } = describeFault(error);
    return (
      <span className={classNames(styles['under'], styles['underDanger'])} title={`${error.message}. ${remedy}`}>
        {title}
      </span>
    );
  }
  if (status !== 'creating' || progress === null) return null;
  const percent = progress.bytes > 0 ? ` ${Math.floor((progress.bytes_done / progress.bytes) * 100)}%` : '';
  return (
    <span className={styles['under']}>
      {progress.stage} image{percent}
    </span>
  );
}

interface ActionsProps {
  workspace: Workspace;
  sandbox: Sandbox;
  onDelete: SandboxColumnsOptions['onDelete'];
}

function Actions({ workspace, sandbox, onDelete }: ActionsProps) {
  const { start, stop } = useSandboxActions();
  const params = { workspace: workspace.uuid, sandbox: sandbox.id };
  const again = sandbox.status === 'error' ? 'Restart' : 'Start';
  const rests = sandbox.status === 'error' || sandbox.status === 'stopped';
  return (
    <span className={styles['rowActions']}>
      {onDelete !== null && rests && (
        <IconButton label={`${again} ${sandbox.name}`} size="small" onClick={() => start.mutate(sandbox)}>
          {sandbox.status === 'error' ? <RotateCcw size={15} /> : <Play size={15} />}
        </IconButton>
      )}
      <Menu
        align="end"
        trigger={
          <IconButton label={`Actions for ${sandbox.name}`} size="small">
            <Ellipsis size={15} />
          </IconButton>
        }
      >
        <MenuItem icon={<SquareTerminal size={14} />} render={<Link to={paths.sandbox} params={params} />}>
          Terminal
        </MenuItem>
        <MenuItem icon={<FolderOpen size={14} />} render={<Link to={paths.sandboxFiles} params={params} />}>
          Files
        </MenuItem>
        <MenuItem icon={<Settings size={14} />} render={<Link to={paths.sandboxSettings} params={params} />}>
          Settings
        </MenuItem>
        {onDelete !== null && (
          <>
            <MenuSeparator />
            {rests ? (
              <MenuItem icon={<Play size={14} />} onClick={() => start.mutate(sandbox)}>
                {again}
              </MenuItem>
            ) : (
              <MenuItem icon={<Square size={14} />} onClick={() => stop.mutate(sandbox)}>
                Stop
              </MenuItem>
            )}
            <MenuItem icon={<Trash2 size={14} />} tone="danger" onClick={() => onDelete([sandbox])}>
              Delete…
            </MenuItem>
          </>
        )}
      </Menu>
    </span>
  );
}
