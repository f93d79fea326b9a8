import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { FolderOpen, FolderPlus, Upload } from 'lucide-react';
import { useRef, useState } from 'react';
import { objectsQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { useUploads } from '../../../uploads/uploads-context.ts';
import { Button } from '../../../ui/button.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { BucketPage, useBucketName } from '../buckets/bucket-page.tsx';
import { entriesOf, type Entry } from './entries.ts';
import { DeleteEntriesDialog } from './delete-entries-dialog.tsx';
import { DropArea } from './drop-area.tsx';
import { entryColumns } from './entry-columns.tsx';
import { NewFolderDialog } from './new-folder-dialog.tsx';
import { ObjectDialog } from './object-dialog.tsx';
import styles from './browser.module.css';
import { PathBar } from './path-bar.tsx';
import { useSelection } from './use-selection.ts';

const route = getRouteApi('/shell/w/$workspace/buckets/$bucket');

export function ObjectsPage() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const { prefix = '', object } = route.useSearch();
  const navigate = route.useNavigate();
  const picker = useRef<HTMLInputElement>(null);
  const uploads = useUploads();
  const pages = useInfiniteQuery(objectsQuery(svc, workspace, bucket, prefix));
  const entries = pages.data === undefined ? undefined : entriesOf(pages.data.pages, prefix);
  const selection = useSelection(entries);
  const [making, setMaking] = useState(false);
  const [deleting, setDeleting] = useState<readonly Entry[]>([]);
  const writable = mayWrite(workspace);
  const upload = (files: readonly { file: File; path: string }[]): void =>
    uploads.add(files.map(({ file, path }) => ({ workspace, bucket, key: `${prefix}${path}`, file })));
  const openObject = (key: string | null): void =>
    void navigate({ search: { prefix, ...(key === null ? {} : { object: key }) }, resetScroll: false });
  const actions = writable && (
    <>
      <Button icon={<FolderPlus size={15} />} onClick={() => setMaking(true)}>
        New folder
      </Button>
      <Button variant="primary" icon={<Upload size={15} />} onClick={() => picker.current?.click()}>
        Upload
      </Button>
    </>
  );
  return (
    <BucketPage current="objects" actions={actions}>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          upload([...(event.currentTarget.files ?? [])].map((file) => ({ file, path: file.name })));
          event.currentTarget.value = '';
        }}
      />
      <DropArea disabled={!writable} folder={prefix} onDrop={upload}>
        <PathBar
          bucket={bucket}
          prefix={prefix}
          selected={selection.selected}
          onDelete={writable ? () => setDeleting(selection.selected) : null}
          onClear={selection.clear}
        />
        {pages.isError ? (
          <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />
        ) : (
          <Table
            caption={`Objects in ${bucket}/${prefix}`}
            columns={entryColumns({
              workspace,
              bucket,
              selection,
              onOpen: openObject,
              onDelete: writable ? setDeleting : null,
            })}
            rows={entries}
            rowKey={(entry) => `${entry.kind} ${entry.key}`}
            skeletonRows={8}
            empty={
              <EmptyState
                icon={<FolderOpen size={18} />}
                title={prefix === '' ? 'This bucket is empty' : 'This folder is empty'}
              >
                {writable ? 'Drop files or folders here, or upload with any S3 client.' : 'Nothing was put here yet.'}
              </EmptyState>
            }
          />
        )}
        {pages.hasNextPage && (
          <div className={styles['more']}>
            <Button pending={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
              Show more
            </Button>
          </div>
        )}
      </DropArea>
      <NewFolderDialog open={making} bucket={bucket} prefix={prefix} onClose={() => setMaking(false)} />
      <DeleteEntriesDialog
        bucket={bucket}
        entries={deleting}
        onClose={() => setDeleting([])}
        onDeleted={selection.clear}
      />
      <ObjectDialog bucket={bucket} objectKey={object ?? null} onClose={() => openObject(null)} />
    </BucketPage>
  );
}
