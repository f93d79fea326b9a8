import { resultOf, type Deployment, type ResourceResult } from '@svc/sdk';
import { isFinished } from '../../../api/clusters.ts';
import { Badge, Status } from '../../../ui/badge.tsx';
import { Panel } from '../../../ui/page.tsx';
import { ProgressBar } from '../../../ui/progress-bar.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { TwoLines, WrappedText } from '../../../ui/list.tsx';
import { DeploymentStatus } from './deployment-columns.tsx';
import { ACTION_TONES, HEALTH_TONES, phaseLabel, shareOf, formatSummary } from './deployment-labels.ts';
import styles from './deployments.module.css';
import { ResourceDiffs } from './resource-diffs.tsx';
import { keyOf } from './resource-key.ts';
import type { DeployProgress } from './use-deployment.ts';

export interface DeploymentReportProps {
  deployment: Deployment;
  progress: DeployProgress | null;
}

/** Progress and outcome of a deployment. */
export function DeploymentReport({ deployment, progress }: DeploymentReportProps) {
  const { error, dry_run: dryRun } = deployment;
  const result = resultOf(deployment);
  const { summary, resources, warnings = [] } = result ?? {};
  return (
    <div className={styles['stack']}>
      <Panel>
        <div className={styles['progress']} role="status">
          <div className={styles['phase']}>
            <DeploymentStatus status={deployment.status} />
            <span>{summary === undefined ? '' : formatSummary(summary, dryRun)}</span>
          </div>
          {!isFinished(deployment) && <Progress progress={progress} />}
        </div>
      </Panel>
      {error !== null && <Fault error={error} partly={result?.partially_applied === true} />}
      {warnings.length > 0 && (
        <ul className={styles['warnings']} aria-label="Warnings">
          {warnings.map((warning) => (
            <li key={warning}>{warning}</li>
          ))}
        </ul>
      )}
      {resources !== undefined && (
        <Table
          caption={dryRun ? 'Planned changes' : 'Applied changes'}
          columns={dryRun ? COLUMNS : [...COLUMNS, HEALTH]}
          rows={resources}
          rowKey={keyOf}
          empty={<EmptyState title="No resources">Nothing was changed.</EmptyState>}
        />
      )}
      {dryRun && resources !== undefined && <ResourceDiffs resources={resources} />}
    </div>
  );
}

function Progress({ progress }: { progress: DeployProgress | null }) {
  if (progress === null) return <p className="muted">Waiting for the agent…</p>;
  const share = shareOf(progress.counts);
  return (
    <>
      <div className={styles['phase']}>
        <span>{phaseLabel(progress.phase)}</span>
        <span>{progress.message}</span>
      </div>
      {share !== null && <ProgressBar label={phaseLabel(progress.phase)} share={share} />}
    </>
  );
}

/** Names the rejected object and its position in the manifest. */
function Fault({ error, partly }: { error: NonNullable<Deployment['error']>; partly: boolean }) {
  const field = error.details?.['field'];
  return (
    <section className={styles['fault']} role="alert">
      <h3>
        {error.code
          .replaceAll('_', ' ')
          .toLowerCase()
          .replace(/^./, (letter) => letter.toUpperCase())}
        {typeof field === 'string' && (
          <>
            {' '}
            at <code>{field}</code>
          </>
        )}
      </h3>
      <p>{error.message}</p>
      {partly && <p>Some resources were changed before the failure.</p>}
    </section>
  );
}

const COLUMNS: readonly Column<ResourceResult>[] = [
  {
    id: 'resource',
    header: 'Resource',
    cell: ({ kind, name }) => (
      <TwoLines title={`${kind}/${name}`} under={kind}>
        {name}
      </TwoLines>
    ),
  },
  {
    id: 'action',
    header: 'Action',
    width: '7.5rem',
    cell: ({ action }) => <Badge tone={ACTION_TONES[action]}>{action}</Badge>,
  },
  {
    id: 'message',
    header: 'Message',
    width: '20rem',
    wideOnly: true,
    cell: ({ message, error }) => <WrappedText>{error?.message ?? message ?? ''}</WrappedText>,
  },
];

const HEALTH: Column<ResourceResult> = {
  id: 'health',
  header: 'Health',
  width: '8rem',
  narrowWidth: '7rem',
  cell: ({ health }) => <Status tone={HEALTH_TONES[health]}>{health}</Status>,
};
