import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useStore, versioningQuery } from '../../../api/object-store.ts';
import { bucketKey } from '../../../api/query-keys.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useBucketName } from '../../../layouts/bucket-layout.tsx';
import { useWorkspace } from '../../../session/use-session.ts';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { Panel, Section } from '../../../ui/page.tsx';
import { Switch } from '../../../ui/switch.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { SaveRow } from './save-row.tsx';
import { useSaveSettings, type SettingsPartProps } from './use-save-settings.ts';

/** Recovery: older versions of objects, and the bucket itself. */
export function VersioningSettings({ settings, locked }: SettingsPartProps) {
  const save = useSaveSettings();
  const [enabled, setEnabled] = useState(settings.soft_delete.enabled);
  const [days, setDays] = useState(String(settings.soft_delete.retention_days));
  const count = Number(days);
  const valid = Number.isInteger(count) && count >= 1 && count <= 90;
  const changed = enabled !== settings.soft_delete.enabled || count !== settings.soft_delete.retention_days;
  return (
    <Section title="Versioning & recovery">
      <Panel>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate({ soft_delete: { enabled, retention_days: count } });
          }}
        >
          <FieldStack>
            <KeepVersions locked={locked} />
            <Switch
              label="Allow restoring this bucket after deletion"
              description="The name stays reserved until the bucket is purged."
              checked={enabled}
              disabled={locked}
              onChange={setEnabled}
            />
            {enabled && (
              <TextField
                label="Retention (days)"
                type="number"
                min={1}
                max={90}
                value={days}
                disabled={locked}
                error={valid ? undefined : 'Enter 1 to 90 days.'}
                onChange={(event) => setDays(event.target.value)}
              />
            )}
          </FieldStack>
          <SaveRow state={save} locked={locked} disabled={!changed || !valid} />
        </form>
      </Panel>
    </Section>
  );
}

function KeepVersions({ locked }: { locked: boolean }) {
  const store = useStore();
  const svc = useSvc();
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const query = versioningQuery(svc, workspace, bucket);
  const { data } = useQuery(query);
  const change = useMutation({
    mutationFn: (status: 'enabled' | 'suspended') => store.buckets.setVersioning(bucket, status),
    onSuccess: async (_answer, status) => {
      done(status === 'enabled' ? 'Versioning enabled' : 'Versioning suspended');
      await queryClient.invalidateQueries({ queryKey: bucketKey(workspace, bucket) });
    },
  });
  return (
    <>
      <Switch
        label="Keep previous versions of objects"
        description="Replaced and deleted objects are kept as versions. Turning this off keeps existing versions."
        checked={data === 'enabled'}
        disabled={locked || data === undefined || change.isPending}
        onChange={(checked) => change.mutate(checked ? 'enabled' : 'suspended')}
      />
      <FormError error={change.error} />
    </>
  );
}
