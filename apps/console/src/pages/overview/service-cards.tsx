import type { ClustersState, ObjectStoreState, PlatformStatus, SandboxesState, Workspace } from '@svc/sdk';
import { Box, Database, Network } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { formatBytes } from '../../ui/format-bytes.ts';
import { formatCount, splitBytes } from '../../ui/format-number.ts';
import { LinePlot, Meter, ShareBar } from '../../ui/plots.tsx';
import styles from './overview.module.css';
import { ServiceCard, type Health } from './service-card.tsx';

export interface ServiceCardsProps {
  workspace: Workspace;
  services: PlatformStatus['services'] | undefined;
}

export function ServiceCards({ workspace, services }: ServiceCardsProps) {
  return (
    <div className={styles['cards']}>
      <ClustersCard state={services?.clusters} />
      <ObjectStoreCard workspace={workspace} state={services?.object_store} />
      <SandboxesCard state={services?.sandboxes} />
    </div>
  );
}

interface CardProps<State> {
  state: State | undefined;
}

function ClustersCard({ state }: CardProps<ClustersState>) {
  const { total = 0, connected = 0, pending = 0 } = state ?? {};
  const offline = total - connected - pending;
  return (
    <ServiceCard
      name="Clusters"
      icon={<Network size={16} />}
      state={state}
      health={clustersHealth({ total, connected, offline })}
      figure={formatCount(connected)}
      unit={connected === 1 ? 'cluster connected' : 'clusters connected'}
      plot={
        <ShareBar
          label="Clusters"
          shares={[
            { label: 'Connected', value: connected, tone: 'ok' },
            { label: 'Offline', value: offline, tone: 'warn' },
            { label: 'Never connected', value: pending, tone: 'neutral' },
          ]}
        />
      }
      facts={[
        ['Total', formatCount(total)],
        ['Offline', formatCount(offline)],
        ['Never connected', formatCount(pending)],
      ]}
    />
  );
}

function clustersHealth(counts: { total: number; connected: number; offline: number }): Health {
  if (counts.total === 0) return { tone: 'neutral', label: 'None yet', live: false };
  if (counts.offline > 0) return { tone: 'warn', label: `${counts.offline} offline`, live: false };
  if (counts.connected === 0) return { tone: 'neutral', label: 'Waiting for agent', live: false };
  return { tone: 'ok', label: counts.connected === counts.total ? 'All connected' : 'Connected', live: true };
}

/** Loaded after the figures, since it brings the object store client. */
const StoredPlot = lazy(async () => ({ default: (await import('./stored-plot.tsx')).StoredPlot }));

function ObjectStoreCard({ workspace, state }: CardProps<ObjectStoreState> & { workspace: Workspace }) {
  const { provisioned = false, buckets = 0, objects = 0, bytes = 0 } = state ?? {};
  const [figure, unit] = splitBytes(bytes);
  return (
    <ServiceCard
      name="Object store"
      icon={<Database size={16} />}
      state={state}
      health={
        provisioned
          ? { tone: 'ok', label: 'Ready', live: true }
          : { tone: 'neutral', label: 'No buckets yet', live: false }
      }
      figure={figure}
      unit={`${unit} stored`}
      plot={
        provisioned ? (
          <Suspense fallback={null}>
            <StoredPlot workspace={workspace} sizeBytes={bytes} />
          </Suspense>
        ) : (
          <LinePlot label="Stored, last 48 hours" values={[0]} format={formatBytes} />
        )
      }
      facts={[
        ['Buckets', formatCount(buckets)],
        ['Objects', formatCount(objects)],
      ]}
    />
  );
}

function SandboxesCard({ state }: CardProps<SandboxesState>) {
  const {
    running = 0,
    paused = 0,
    total = 0,
    limit = 0,
    driver = null,
    runtime = null,
    warm_pool: warm = [],
  } = state ?? {};
  return (
    <ServiceCard
      name="Sandboxes"
      icon={<Box size={16} />}
      state={state}
      health={
        running > 0
          ? { tone: 'ok', label: 'Running', live: true }
          : { tone: 'neutral', label: paused > 0 ? 'Paused' : 'None running', live: false }
      }
      figure={formatCount(running)}
      unit={running === 1 ? 'sandbox running' : 'sandboxes running'}
      plot={
        <ShareBar
          label="Sandboxes"
          shares={[
            { label: 'Running', value: running, tone: 'ok' },
            { label: 'Paused', value: paused, tone: 'accent' },
            { label: 'Stopped', value: total - running - paused, tone: 'neutral' },
          ]}
        />
      }
      facts={[
        [
          'Limit',
          <span key="limit" className={styles['limit']}>
            <Meter label="Sandbox limit" value={total} limit={limit} />
            {formatCount(total)} / {formatCount(limit)}
          </span>,
        ],
        ['Paused', formatCount(paused)],
        ['Driver', [driver, runtime].filter((part) => part !== null).join(', ') || 'Unknown'],
        ['Isolation', <IsolationFact key="isolation" state={state} />],
        ['Warm pool', warm.map(({ image, ready, target }) => `${image} ${ready}/${target}`).join(', ') || 'Off'],
      ]}
    />
  );
}

/** Operators can act on the reason; everyone sees the fact. */
function IsolationFact({ state }: { state: SandboxesState | undefined }) {
  const { isolation = null, isolation_reason: reason = null, shares_kernel: shares = null } = state ?? {};
  if (isolation === null) return 'Unknown';
  const words = shares === true ? 'Shared kernel' : reason === null ? 'gVisor' : 'gVisor, not available';
  return reason === null ? words : <span title={reason}>{words}</span>;
}
