import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChevronRight, FolderOpen, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { folderQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { useChosen } from '../list/use-chosen.ts';
import { DeleteFilesDialog } from './delete-files-dialog.tsx';
import { fileColumns, type FileRow } from './file-columns.tsx';
import { stepsOf } from './file-paths.ts';
import styles from './files.module.css';

export interface FolderViewProps {
  sandbox: string;
  folder: string;
  writable: boolean;
  onRename: (entry: FileRow) => void;
}

/** One folder, with the way to it. */
export function FolderView({ sandbox, folder, writable, onRename }: FolderViewProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const listing = useQuery(folderQuery(api, workspace, sandbox, folder));
  const rows = listing.data?.entries.map((entry) => ({ ...entry, id: entry.path }));
  const chosen = useChosen<FileRow>(rows ?? []);
  const [removing, setRemoving] = useState<readonly FileRow[]>([]);
  const columns = fileColumns({
    workspace,
    sandbox,
    chosen,
    onChange: writable ? { rename: onRename, remove: setRemoving } : null,
  });
  return (
    <>
      <div className={styles['bar']}>
        <PathBar sandbox={sandbox} path={folder} />
        {chosen.items.length > 0 && (
          <div className={styles['chosen']} role="status">
            <span>{chosen.items.length} selected</span>
            <Button size="small" variant="ghost" onClick={chosen.toggleAll}>
              {chosen.all ? 'Clear' : 'Select all'}
            </Button>
            <Button size="small" variant="danger" icon={<Trash2 size={13} />} onClick={() => setRemoving(chosen.items)}>
              Delete
            </Button>
          </div>
        )}
      </div>
      {listing.isError ? (
        <ErrorState error={listing.error} onRetry={() => void listing.refetch()} />
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
        <p className={styles['cut']}>Showing the first {rows?.length} entries. Use the terminal to see all of them.</p>
      )}
      <DeleteFilesDialog
        sandbox={sandbox}
        entries={removing}
        onClose={() => setRemoving([])}
        onDeleted={chosen.clear}
      />
    </>
  );
}

function PathBar({ sandbox, path }: { sandbox: string; path: string }) {
  const workspace = useWorkspace();
  const params = { workspace: workspace.uuid, sandbox };
  const steps = stepsOf(path);
  return (
    <nav aria-label="Folders" className={styles['path']}>
      <Link
        to={paths.sandboxFiles}
        params={params}
        search={{ path: '/' }}
        aria-label="Root folder"
        aria-current={steps.length === 0 ? 'page' : undefined}
      >
        /
      </Link>
      {steps.map((step, index) => (
        <span key={step.path} className={styles['step']}>
          {index > 0 && <ChevronRight size={12} aria-hidden="true" />}
          <Link
            to={paths.sandboxFiles}
            params={params}
            search={{ path: step.path }}
            aria-current={index === steps.length - 1 ? 'page' : undefined}
          >
            {step.name}
          </Link>
        </span>
      ))}
    </nav>
  );
}
