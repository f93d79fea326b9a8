import type { PlatformStatus, Workspace } from '@svc/sdk';
import { CopyField } from '../../ui/copy-field.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import styles from './overview.module.css';

export interface EndpointsProps {
  workspace: Workspace;
  status: PlatformStatus | undefined;
}

/** Endpoints of this workspace for external programs. */
export function Endpoints({ workspace, status }: EndpointsProps) {
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
