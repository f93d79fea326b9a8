import { ConflictError, type Bucket } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useStore } from '../../../api/object-store.ts';
import { storeKey } from '../../../api/query-keys.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useToasts } from '../../../ui/toast.tsx';

export interface DeleteBucketDialogProps {
  bucket: Bucket | null;
  onClose: () => void;
  onDeleted?: () => void;
}

export function DeleteBucketDialog({ bucket, onClose, onDeleted }: DeleteBucketDialogProps) {
  const store = useStore();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const deletion = useMutation({
    mutationFn: ({ name }: Bucket) => store.buckets.delete(name),
    onSuccess: async (_answer, { name }) => {
      close();
      done(`${name} deleted`);
      onDeleted?.();
      await queryClient.invalidateQueries({ queryKey: storeKey(workspace) });
    },
  });
  const close = (): void => {
    deletion.reset();
    onClose();
  };
  const soft = bucket?.soft_delete.enabled ?? true;
  const refused = deletion.error instanceof ConflictError;
  return (
    <ConfirmDialog
      open={bucket !== null}
      onClose={close}
      onConfirm={() => {
        if (bucket !== null) deletion.mutate(bucket);
      }}
      title={`Delete ${bucket?.name ?? ''}?`}
      action="Delete bucket"
      pending={deletion.isPending}
      error={deletion.error}
      {...(bucket !== null && bucket.object_count > 0 ? { typeToConfirm: bucket.name } : {})}
    >
      {soft
        ? `Objects, keys and domains stop working immediately. You can restore the bucket for ${bucket?.soft_delete.retention_days ?? 7} days. Its name stays reserved until then.`
        : 'Deletes the bucket permanently. This cannot be undone.'}
      {refused && ' A bucket without a restore period must be empty first.'}
    </ConfirmDialog>
  );
}
