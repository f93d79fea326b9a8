import type { ClustersState, ObjectStoreState, PlatformStatus, SandboxesState, Workspace } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { Box, Database, Network } from 'lucide-react';
import { samplesQuery, SAMPLE_CAPACITY, type StatusSample } from '../../api/status-samples.ts';
import { formatCount, splitBytes } from '../../ui/format-number.ts';
import { LinePlot, Meter } from '../../ui/plots.tsx';
import styles from './overview.module.css';
import { ServiceCard } from './service-card.tsx';

export interface ServiceCardsProps {
  workspace: Workspace;
  services: PlatformStatus['services'] | undefined;
}

export function ServiceCards({ workspace, services }: ServiceCardsProps) {
  const { data: samples = [] } = useQuery(samplesQuery(workspace.uuid));
  return (
    <div className={styles['cards']}>
      <ClustersCard state={services?.clusters} samples={samples} />
      <ObjectStoreCard state={services?.object_store} samples={samples} />
      <SandboxesCard state={services?.sandboxes} samples={samples} />
    </div>
  );
}

interface CardProps<State> {
  state: State | undefined;
  samples: readonly StatusSample[];
}

function ClustersCard({ state, samples }: CardProps<ClustersState>) {
  const { total = 0, connected = 0 } = state ?? {};
  const away = total - connected;
  const health =
    total === 0
      ? ({ tone: 'neutral', word: 'None yet', live: false } as const)
      : away === 0
        ? ({ tone: 'ok', word: 'All connected', live: true } as const)
        : ({ tone: 'warn', word: `${away} away`, live: false } as const);
  return (
    <ServiceCard
      name="Clusters"
      icon={<Network size={16} />}
      state={state}
      health={health}
      figure={formatCount(connected)}
      unit={connected === 1 ? 'cluster connected' : 'clusters connected'}
      plot={<Recent label="Connected clusters" values={samples.map((sample) => sample.connectedClusters)} />}
      facts={[
        ['Registered', formatCount(total)],
        ['Away', formatCount(away)],
      ]}
    />
  );
}

function ObjectStoreCard({ state, samples }: CardProps<ObjectStoreState>) {
  const { provisioned = false, buckets = 0, objects = 0, bytes = 0 } = state ?? {};
  const [figure, unit] = splitBytes(bytes);
  return (
    <ServiceCard
      name="Object store"
      icon={<Database size={16} />}
      state={state}
      health={
        provisioned
          ? { tone: 'ok', word: 'Ready', live: true }
          : { tone: 'neutral', word: 'No buckets yet', live: false }
      }
      figure={figure}
      unit={`${unit} stored`}
      plot={<Recent label="Stored bytes" values={samples.map((sample) => sample.storedBytes)} />}
      facts={[
        ['Buckets', formatCount(buckets)],
        ['Objects', formatCount(objects)],
      ]}
    />
  );
}

function SandboxesCard({ state, samples }: CardProps<SandboxesState>) {
  const { running = 0, total = 0, limit = 0, driver = null, runtime = null, warm_pool: warm = [] } = state ?? {};
  const health =
    running > 0
      ? ({ tone: 'ok', word: 'Running', live: true } as const)
      : ({ tone: 'neutral', word: 'None running', live: false } as const);
  return (
    <ServiceCard
      name="Sandboxes"
      icon={<Box size={16} />}
      state={state}
      health={health}
      figure={formatCount(running)}
      unit={running === 1 ? 'sandbox running' : 'sandboxes running'}
      plot={<Recent label="Running sandboxes" values={samples.map((sample) => sample.runningSandboxes)} />}
      facts={[
        [
          'Limit',
          <span key="limit" className={styles['limit']}>
            <Meter label="Sandbox limit" value={total} limit={limit} />
            {formatCount(total)} / {formatCount(limit)}
          </span>,
        ],
        ['Isolation', [driver, runtime].filter((word) => word !== null).join(', ') || 'Unknown'],
        ...warm.map(({ image, ready, target }) => [`Warm: ${image}`, `${ready} of ${target}`] as const),
      ]}
    />
  );
}

function Recent({ label, values }: { label: string; values: readonly number[] }) {
  return <LinePlot label={label} values={values} capacity={SAMPLE_CAPACITY} />;
}
