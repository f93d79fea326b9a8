import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { encryptionQuery, useStore } from '../../../api/object-store.ts';
import { bucketKey } from '../../../api/query-keys.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useBucketName } from '../../../layouts/bucket-layout.tsx';
import { useWorkspace } from '../../../session/use-session.ts';
import { FormError } from '../../../ui/form-error.tsx';
import { Panel, Section } from '../../../ui/page.tsx';
import { Switch } from '../../../ui/switch.tsx';
import { useToasts } from '../../../ui/toast.tsx';

export function EncryptionSettings({ locked }: { locked: boolean }) {
  const store = useStore();
  const svc = useSvc();
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const { data } = useQuery(encryptionQuery(svc, workspace, bucket));
  const change = useMutation({
    mutationFn: (mode: 'sse-s3' | 'none') => store.buckets.setEncryption(bucket, mode),
    onSuccess: async (mode) => {
      done(mode === 'sse-s3' ? 'Encryption enabled' : 'Encryption disabled');
      await queryClient.invalidateQueries({ queryKey: bucketKey(workspace, bucket) });
    },
  });
  return (
    <Section title="Encryption">
      <Panel>
        <Switch
          label="Encrypt new objects at rest"
          description="Existing objects are not changed."
          checked={data === 'sse-s3'}
          disabled={locked || data === undefined || change.isPending}
          onChange={(checked) => change.mutate(checked ? 'sse-s3' : 'none')}
        />
        <FormError error={change.error} />
      </Panel>
    </Section>
  );
}
