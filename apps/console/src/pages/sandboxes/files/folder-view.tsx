import { useQuery } from '@tanstack/react-query';
import { FolderOpen, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { FileOwner } from '../../../api/sandbox-types.ts';
import { folderQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { FolderBar } from '../../../ui/folder-list.tsx';
import { SelectionBar } from '../../../ui/selection.tsx';
import { useSelection } from '../../../ui/use-selection.ts';
import { DeleteFilesDialog } from './delete-files-dialog.tsx';
import { fileColumns, filesLink, type FileRow } from './file-columns.tsx';
import { stepsOf } from './file-paths.ts';
import { FilesError } from './files-error.tsx';
import styles from './files.module.css';

export interface FolderViewProps {
  owner: FileOwner;
  folder: string;
  writable: boolean;
  onRename: (entry: FileRow) => void;
}

/** A folder with its path. */
export function FolderView({ owner, folder, writable, onRename }: FolderViewProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const listing = useQuery(folderQuery(api, workspace, owner, folder));
  const rows = listing.data?.entries.map((entry) => ({ ...entry, id: entry.path }));
  const selection = useSelection<FileRow>(rows ?? [], ({ id }) => id);
  const [removing, setRemoving] = useState<readonly FileRow[]>([]);
  const columns = fileColumns({
    workspace,
    owner,
    selection,
    onChange: writable ? { rename: onRename, remove: setRemoving } : null,
  });
  return (
    <>
      <FolderBar
        steps={[{ name: '/', path: '/', label: 'Root folder' }, ...stepsOf(folder)].map(({ path, ...step }) => ({
          ...step,
          link: filesLink(workspace, owner, { path }),
        }))}
      >
        <SelectionBar selection={selection}>
          <Button
            size="small"
            variant="danger"
            icon={<Trash2 size={13} />}
            onClick={() => setRemoving(selection.items)}
          >
            Delete
          </Button>
        </SelectionBar>
      </FolderBar>
      {listing.isError ? (
        <FilesError error={listing.error} onRetry={() => void listing.refetch()} />
      ) : (
        <Table
          caption={`Files in ${folder}`}
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={<FolderOpen size={18} />} title="This folder is empty">
              {writable && 'Drop files here to upload them.'}
            </EmptyState>
          }
        />
      )}
      {listing.data?.cut === true && (
        <p className={styles['cut']}>
          Showing the first {rows?.length} entries. Use{' '}
          {owner.kind === 'volume' ? 'svc volume ls-files' : 'the terminal'} to see all of them.
        </p>
      )}
      <DeleteFilesDialog owner={owner} entries={removing} onClose={() => setRemoving([])} onDeleted={selection.clear} />
    </>
  );
}
