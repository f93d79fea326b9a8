import { useQuery } from '@tanstack/react-query';
import { Archive, FolderPlus, Upload } from 'lucide-react';
import { getRouteApi } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { versioningQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useBucketName } from '../../../layouts/bucket-layout.tsx';
import { PageActions } from '../../../ui/page.tsx';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { DropArea } from '../../../uploads/drop-area.tsx';
import type { DroppedFile } from '../../../uploads/dropped-files.ts';
import { useUploads } from '../../../uploads/uploads-context.ts';
import { Button } from '../../../ui/button.tsx';
import { DeletedObjects } from './deleted-objects.tsx';
import { NewFolderDialog } from './new-folder-dialog.tsx';
import { ObjectDialog } from './object-dialog.tsx';
import { ObjectList } from './object-list.tsx';

const route = getRouteApi('/shell/w/$workspace/buckets/$bucket/');

export function ObjectsPage() {
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const { prefix = '', object, deleted } = route.useSearch();
  const svc = useSvc();
  const { data: versioning } = useQuery(versioningQuery(svc, workspace, bucket));
  const navigate = route.useNavigate();
  const picker = useRef<HTMLInputElement>(null);
  const uploads = useUploads();
  const [making, setMaking] = useState(false);
  const writable = mayWrite(workspace);
  const upload = (files: readonly DroppedFile[]): void =>
    uploads.add(files.map(({ file, path }) => ({ workspace, bucket, key: `${prefix}${path}`, file })));
  const openObject = (key: string | null): void =>
    void navigate({
      search: { prefix, ...(deleted && { deleted }), ...(key === null ? {} : { object: key }) },
      resetScroll: false,
    });
  const showDeleted = (): void =>
    void navigate({ search: { prefix, ...(deleted ? {} : { deleted: true }) }, resetScroll: false });
  const keepsVersions = versioning !== undefined && versioning !== 'unversioned';
  const deletedButton = keepsVersions && (
    <Button icon={<Archive size={15} />} onClick={showDeleted}>
      {deleted ? 'Hide deleted' : 'Show deleted'}
    </Button>
  );
  const actions = writable ? (
    <>
      {deletedButton}
      <Button icon={<FolderPlus size={15} />} onClick={() => setMaking(true)}>
        New folder
      </Button>
      <Button variant="primary" icon={<Upload size={15} />} onClick={() => picker.current?.click()}>
        Upload
      </Button>
    </>
  ) : (
    deletedButton
  );
  return (
    <>
      <PageActions>{actions}</PageActions>
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
      <DropArea disabled={!writable} folder={prefix === '' ? 'this bucket' : prefix} onDrop={upload}>
        {/* A new list for each folder: what was chosen in one is not chosen in the next. */}
        <ObjectList key={prefix} bucket={bucket} prefix={prefix} writable={writable} onOpen={openObject} />
      </DropArea>
      {deleted && (
        <DeletedObjects key={prefix} bucket={bucket} prefix={prefix} writable={writable} onOpen={openObject} />
      )}
      <NewFolderDialog open={making} bucket={bucket} prefix={prefix} onClose={() => setMaking(false)} />
      <ObjectDialog bucket={bucket} objectKey={object ?? null} onClose={() => openObject(null)} />
    </>
  );
}
