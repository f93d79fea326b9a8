import type { FileEntry, Workspace } from '@svc/sdk';
import { Download, Ellipsis, File, FileSymlink, Folder, FolderDown, Image, Pencil, Trash2 } from 'lucide-react';
import { fileDownloadPath } from '../../../api/file-requests.ts';
import type { FileOwner } from '../../../api/sandbox-types.ts';
import { paths } from '../../../routes/paths.ts';
import { IconButton } from '../../../ui/button.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { Menu, MenuItem, MenuSeparator } from '../../../ui/menu.tsx';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { EntryName } from '../../../ui/folder-list.tsx';
import { selectColumn } from '../../../ui/selection.tsx';
import type { Selection } from '../../../ui/use-selection.ts';
import { imageTypeOf } from './file-kinds.ts';
import type { FilesSearch } from './files-search.ts';
import styles from './files.module.css';

/** A row's id is its path. */
export type FileRow = FileEntry & { id: string };

export interface FileColumnsOptions {
  workspace: Workspace;
  owner: FileOwner;
  selection: Selection<FileRow>;
  /** Null for read-only users. */
  onChange: { rename: (entry: FileRow) => void; remove: (entries: readonly FileRow[]) => void } | null;
}

const PAGES = { sandbox: paths.sandboxFiles, volume: paths.volume } as const;

/** A link to a folder or file. */
export function filesLink(workspace: Workspace, { kind, id }: FileOwner, search: FilesSearch) {
  return { to: PAGES[kind], params: { workspace: workspace.uuid, [kind]: id }, search };
}

export function fileColumns(options: FileColumnsOptions): Column<FileRow>[] {
  const { selection, onChange } = options;
  const columns: Column<FileRow>[] = [
    { id: 'name', header: 'Name', cell: (entry) => <NameCell entry={entry} {...options} /> },
    {
      id: 'size',
      header: 'Size',
      align: 'end',
      width: '6rem',
      narrowWidth: '4.75rem',
      cell: (entry) => (entry.type === 'file' ? formatBytes(entry.size) : ''),
    },
    {
      id: 'mode',
      header: 'Mode',
      width: '7.5rem',
      wideOnly: true,
      cell: ({ mode }) => <code className="muted">{mode}</code>,
    },
    {
      id: 'modified',
      header: 'Modified',
      width: '8rem',
      wideOnly: true,
      cell: (entry) => (
        <span className="muted">
          {/* Reproducible images set no times: theirs are all at the epoch. */}
          {Date.parse(entry.mod_time) <= 0 ? '–' : <RelativeTime at={entry.mod_time} />}
        </span>
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: 'calc(var(--control-small) + 2rem)',
      cell: (entry) => <Actions entry={entry} {...options} />,
    },
  ];
  if (onChange === null) return columns;
  return [selectColumn(selection, ({ name }) => name), ...columns];
}

function NameCell({ entry, workspace, owner }: FileColumnsOptions & { entry: FileRow }) {
  const folder = entry.path.slice(0, entry.path.lastIndexOf('/')) || '/';
  const search = entry.is_dir ? { path: entry.path } : { path: folder, file: entry.path };
  return (
    <EntryName icon={<KindIcon entry={entry} />} name={entry.name} link={filesLink(workspace, owner, search)}>
      {entry.link_target !== null && <span className={styles['linkTarget']}>→ {entry.link_target}</span>}
    </EntryName>
  );
}

function KindIcon({ entry: { type, name } }: { entry: FileRow }) {
  if (type === 'dir') return <Folder size={15} />;
  if (type === 'symlink') return <FileSymlink size={15} />;
  return imageTypeOf(name) === null ? <File size={15} /> : <Image size={15} />;
}

function Actions({ entry, workspace, owner, onChange }: FileColumnsOptions & { entry: FileRow }) {
  const href = fileDownloadPath(workspace, owner, entry.path, { archive: entry.is_dir });
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label={`Actions for ${entry.name}`} size="small">
          <Ellipsis size={15} />
        </IconButton>
      }
    >
      <MenuItem
        icon={entry.is_dir ? <FolderDown size={14} /> : <Download size={14} />}
        render={<a href={href} download aria-label={`Download ${entry.name}`} />}
      >
        {entry.is_dir ? 'Download as tar' : 'Download'}
      </MenuItem>
      {onChange !== null && (
        <>
          <MenuItem icon={<Pencil size={14} />} onClick={() => onChange.rename(entry)}>
            Rename or move…
          </MenuItem>
          <MenuSeparator />
          <MenuItem icon={<Trash2 size={14} />} tone="danger" onClick={() => onChange.remove([entry])}>
            Delete…
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
