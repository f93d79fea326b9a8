import type { ObjectVersion } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useStore } from '../../../api/object-store.ts';
import { bucketKey } from '../../../api/query-keys.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { useToasts } from '../../../ui/toast.tsx';

/** Changes to retained versions; refetches every view of the bucket. */
export function useVersionChanges(bucket: string) {
  const store = useStore();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done, failed } = useToasts();
  const onSettled = () => queryClient.invalidateQueries({ queryKey: bucketKey(workspace, bucket) });
  const removal = useMutation({
    mutationFn: ({ key, version_id: versionId }: ObjectVersion) => store.objects(bucket).delete(key, { versionId }),
    onSettled,
  });
  /** Deletes a delete marker, which reveals the object again; copies an older version as the newest. */
  const restore = useMutation({
    mutationFn: async ({ key, version_id: versionId, delete_marker: isMarker }: ObjectVersion) => {
      if (isMarker) await store.objects(bucket).delete(key, { versionId });
      else await store.objects(bucket).restoreVersion(key, versionId);
    },
    onSuccess: (_answer, { delete_marker: isMarker }) => done(isMarker ? 'Object restored' : 'Version restored'),
    onError: (error) => failed('Could not restore the object', error),
    onSettled,
  });
  return { removal, restore };
}
