import type { VersioningStatus } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useStore, versioningQuery } from '../../../api/object-store.ts';
import { bucketKey, storeKey } from '../../../api/query-keys.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { deleteEntries } from './delete-entries.ts';
import type { Entry } from './entries.ts';

export interface DeleteEntriesDialogProps {
  bucket: string;
  entries: readonly Entry[];
  onClose: () => void;
  onDeleted: () => void;
}

export function DeleteEntriesDialog({ bucket, entries, onClose, onDeleted }: DeleteEntriesDialogProps) {
  const store = useStore();
  const svc = useSvc();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const deletion = useMutation({
    mutationFn: () => deleteEntries(store.objects(bucket), entries),
    onSuccess: (count) => {
      close();
      onDeleted();
      done(count === 1 ? '1 object deleted' : `${count} objects deleted`);
    },
    onSettled: async () => {
      await queryClient.invalidateQueries({ queryKey: bucketKey(workspace, bucket) });
      await queryClient.invalidateQueries({ queryKey: storeKey(workspace) });
    },
  });
  const close = (): void => {
    deletion.reset();
    onClose();
  };
  const { data: versioning } = useQuery(versioningQuery(svc, workspace, bucket));
  const folders = entries.filter(({ kind }) => kind === 'folder').length;
  const [only] = entries;
  const what = entries.length === 1 && only !== undefined ? only.name : `${entries.length} items`;
  return (
    <ConfirmDialog
      open={entries.length > 0}
      onClose={close}
      onConfirm={() => deletion.mutate()}
      title={`Delete ${what}?`}
      action="Delete"
      pending={deletion.isPending}
      error={deletion.error}
      names={entries.map(({ name }) => name)}
      {...(folders > 0 ? { typeToConfirm: 'delete' } : {})}
    >
      {folders > 0 ? 'Folders are deleted with all objects in them. ' : ''}
      {describeConsequence(versioning)}
    </ConfirmDialog>
  );
}

/** Whether deleted objects can be restored depends on the bucket; empty until that is known. */
function describeConsequence(versioning: VersioningStatus | undefined): string {
  switch (versioning) {
    case 'enabled':
      return 'The bucket keeps versions: you can restore deleted objects under “Show deleted”.';
    case 'suspended':
      return 'Versioning is suspended: only versions from before can be restored.';
    case 'unversioned':
      return 'The bucket keeps no versions. This cannot be undone.';
    case undefined:
      return '';
  }
}
