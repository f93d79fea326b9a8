import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { bucketsQuery, settingsQuery, urlsQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useBucketName } from '../../../layouts/bucket-layout.tsx';
import { paths } from '../../../routes/paths.ts';
import { administers } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyField } from '../../../ui/copy-field.tsx';
import { FieldStack } from '../../../ui/field.tsx';
import { ActionPanel, Panel, Section } from '../../../ui/page.tsx';
import { ErrorState, LoadingRegion } from '../../../ui/states.tsx';
import { DeleteBucketDialog } from '../buckets/delete-bucket-dialog.tsx';
import { AccessSettings } from './access-settings.tsx';
import { CorsSettings } from './cors-settings.tsx';
import { LimitSettings } from './limit-settings.tsx';
import { NotificationSettings } from './notification-settings.tsx';
import { EncryptionSettings } from './encryption-settings.tsx';
import { VersioningSettings } from './versioning-settings.tsx';
import { WebsiteSettings } from './website-settings.tsx';

/** Read-only for guests and members; editable for admins and owners. */
export function BucketSettingsPage() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const settings = useQuery(settingsQuery(svc, workspace, bucket));
  const locked = !administers(workspace);
  return (
    <>
      <Addresses />
      {settings.isError ? (
        <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />
      ) : settings.data === undefined ? (
        <LoadingRegion height="20rem" />
      ) : (
        <>
          <AccessSettings settings={settings.data} locked={locked} />
          <VersioningSettings settings={settings.data} locked={locked} />
          <EncryptionSettings locked={locked} />
          <LimitSettings settings={settings.data} locked={locked} />
          <CorsSettings settings={settings.data} locked={locked} />
          <WebsiteSettings settings={settings.data} locked={locked} />
          <NotificationSettings settings={settings.data} locked={locked} />
        </>
      )}
      {!locked && <DeleteBucket />}
    </>
  );
}

function Addresses() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const { data: urls } = useQuery(urlsQuery(svc, workspace, bucket));
  return (
    <Section title="Endpoints" description="URLs for S3 clients. Path style works everywhere.">
      <Panel>
        <FieldStack>
          <CopyField label="Path style" value={urls?.path_style ?? ''} placeholder="…" />
          <CopyField label="Virtual host" value={urls?.virtual_host ?? ''} placeholder="…" />
        </FieldStack>
      </Panel>
    </Section>
  );
}

function DeleteBucket() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const name = useBucketName();
  const navigate = useNavigate();
  const { data: buckets } = useQuery(bucketsQuery(svc, workspace));
  const [asking, setAsking] = useState(false);
  const bucket = buckets?.find((each) => each.name === name) ?? null;
  return (
    <>
      <ActionPanel
        title="Delete bucket"
        description="Deletes the bucket and everything in it."
        action={
          <Button
            variant="danger"
            icon={<Trash2 size={15} />}
            disabled={bucket === null}
            onClick={() => setAsking(true)}
          >
            Delete bucket…
          </Button>
        }
      />
      <DeleteBucketDialog
        bucket={asking ? bucket : null}
        onClose={() => setAsking(false)}
        onDeleted={() => void navigate({ to: paths.buckets, params: { workspace: workspace.uuid } })}
      />
    </>
  );
}
