import type { Workspace } from '@svc/sdk';
import { Download, File, FileText, Film, Folder, Image, Music, Trash2 } from 'lucide-react';
import { downloadPath } from '../../../api/object-store.ts';
import { paths } from '../../../routes/paths.ts';
import { Badge } from '../../../ui/badge.tsx';
import { IconButton } from '../../../ui/button.tsx';
import { EntryName } from '../../../ui/folder-list.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { selectColumn } from '../../../ui/selection.tsx';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import type { Selection } from '../../../ui/use-selection.ts';
import styles from './browser.module.css';
import type { Entry } from './entries.ts';
import { previewKindOf } from './preview-kind.ts';

export interface EntryColumnsOptions {
  workspace: Workspace;
  bucket: string;
  selection: Selection<Entry>;
  onOpen: (key: string) => void;
  /** Null for read-only users. */
  onDelete: ((entries: readonly Entry[]) => void) | null;
}

export function entryColumns(options: EntryColumnsOptions): Column<Entry>[] {
  const { selection, onDelete } = options;
  const columns: Column<Entry>[] = [
    { id: 'name', header: 'Name', cell: (entry) => <NameCell entry={entry} {...options} /> },
    {
      id: 'size',
      header: 'Size',
      align: 'end',
      width: '6rem',
      narrowWidth: '4.75rem',
      cell: (entry) => (entry.kind === 'object' ? formatBytes(entry.object.size) : ''),
    },
    {
      id: 'modified',
      header: 'Modified',
      width: '8.5rem',
      wideOnly: true,
      cell: (entry) =>
        entry.kind === 'object' && (
          <span className="muted">
            <RelativeTime at={entry.object.last_modified} />
          </span>
        ),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: 'calc(2 * var(--control-small) + 2rem)',
      cell: (entry) => <Actions entry={entry} {...options} />,
    },
  ];
  if (onDelete === null) return columns;
  return [selectColumn(selection, ({ name }) => name), ...columns];
}

function NameCell({ entry, workspace, bucket, onOpen }: EntryColumnsOptions & { entry: Entry }) {
  if (entry.kind === 'folder') {
    const params = { workspace: workspace.uuid, bucket };
    const link = { to: paths.bucket, params, search: { prefix: entry.key } };
    return <EntryName icon={<Folder size={15} />} name={entry.name} link={link} />;
  }
  const icon = <KindIcon entryKey={entry.key} contentType={entry.object.content_type ?? ''} />;
  return (
    <EntryName icon={icon} name={entry.name} onOpen={() => onOpen(entry.key)}>
      {entry.object.public && <Badge tone="warn">public</Badge>}
    </EntryName>
  );
}

function KindIcon({ entryKey, contentType }: { entryKey: string; contentType: string }) {
  switch (previewKindOf(entryKey, contentType)) {
    case 'image':
      return <Image size={15} />;
    case 'video':
      return <Film size={15} />;
    case 'audio':
      return <Music size={15} />;
    case 'text':
      return <FileText size={15} />;
    case 'none':
      return <File size={15} />;
  }
}

function Actions({ entry, workspace, bucket, onDelete }: EntryColumnsOptions & { entry: Entry }) {
  return (
    <span className={styles['rowActions']}>
      {entry.kind === 'object' && (
        <a
          className={styles['iconLink']}
          href={downloadPath(workspace, bucket, { key: entry.key })}
          download
          title={`Download ${entry.name}`}
          aria-label={`Download ${entry.name}`}
        >
          <Download size={15} />
        </a>
      )}
      {onDelete !== null && (
        <IconButton label={`Delete ${entry.name}`} size="small" onClick={() => onDelete([entry])}>
          <Trash2 size={15} />
        </IconButton>
      )}
    </span>
  );
}
