import type { BucketSettings, BucketSettingsChange } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { settingsQuery, useStore } from '../../../api/object-store.ts';
import { storeKey } from '../../../api/query-keys.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useBucketName } from '../../../layouts/bucket-layout.tsx';
import { useWorkspace } from '../../../session/use-session.ts';
import { useToasts } from '../../../ui/toast.tsx';

export interface SettingsPartProps {
  settings: BucketSettings;
  /** Read-only. */
  locked: boolean;
}

/** Saves some of a bucket's settings; the others stay unchanged. */
export function useSaveSettings() {
  const store = useStore();
  const svc = useSvc();
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  return useMutation({
    mutationFn: (change: BucketSettingsChange) => store.buckets.changeSettings(bucket, change),
    onSuccess: async (settings) => {
      queryClient.setQueryData(settingsQuery(svc, workspace, bucket).queryKey, settings);
      done('Settings saved');
      await queryClient.invalidateQueries({ queryKey: storeKey(workspace) });
    },
  });
}
