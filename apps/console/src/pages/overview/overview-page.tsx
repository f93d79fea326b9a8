import { useQuery } from '@tanstack/react-query';
import { statusQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { administers } from '../../session/administers.ts';
import { useWorkspace } from '../../session/use-session.ts';
import { formatDuration } from '../../ui/format-time.ts';
import { Page, Panel, Section } from '../../ui/page.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { RecentActivity } from './recent-activity.tsx';
import { ServiceCards } from './service-cards.tsx';
import type { PlatformStatus, Workspace } from '@svc/sdk';
import { CopyField } from '../../ui/copy-field.tsx';
import styles from './overview.module.css';

interface EndpointsProps {
  workspace: Workspace;
  status: PlatformStatus | undefined;
}

export function OverviewPage() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const status = useQuery(statusQuery(svc, workspace));
  const description =
    status.data === undefined ? (
      <Skeleton width="11rem" />
    ) : (
      `svc ${status.data.version}, up for ${formatDuration(status.data.uptime_seconds)}`
    );
  return (
    <Page title="Overview" description={status.isError ? 'Not responding' : description}>
      {status.isError && status.data === undefined ? (
        <ErrorState error={status.error} onRetry={() => void status.refetch()} />
      ) : (
        <ServiceCards workspace={workspace} services={status.data?.services} />
      )}
      <Endpoints workspace={workspace} status={status.data} />
      {administers(workspace) && <RecentActivity key={workspace.uuid} workspace={workspace} />}
    </Page>
  );
}

/** Endpoints of this workspace for external programs. */
function Endpoints({ workspace, status }: EndpointsProps) {
  const s3 = status?.services.object_store.s3_endpoint;
  return (
    <Section title="Endpoints">
      <Panel>
        <div className={styles['endpoints']}>
          <CopyField label="API" value={window.location.origin} />
          <CopyField label="S3" value={s3 ?? ''} placeholder={status === undefined ? '' : 'Off'} />
          <CopyField label="Workspace" value={workspace.uuid} />
        </div>
      </Panel>
    </Section>
  );
}
