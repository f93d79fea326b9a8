import type { ClusterInfo } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ChartColumn } from 'lucide-react';
import { useState } from 'react';
import { heartbeatsQuery, useClusters } from '../../../api/clusters.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { formatCount, formatPercent } from '../../../ui/format-number.ts';
import { formatClock, formatMoment } from '../../../ui/format-time.ts';
import { Panel } from '../../../ui/page.tsx';
import { Select } from '../../../ui/select.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { TimePlot } from '../../../ui/time-plot.tsx';
import type { TimeSpan } from '../../../ui/time-plot-scale.ts';
import { spanOf, stepsOf, valuesOf, type HeartbeatStep } from './heartbeat-steps.ts';
import { isSpan, SPANS, type HistorySpan } from './history-search.ts';
import styles from '../../../ui/plot-page.module.css';

const route = getRouteApi('/shell/w/$workspace/clusters/$cluster/');

/** The agent's heartbeats as plots and optionally as a table. */
export function HeartbeatHistory({ cluster }: { cluster: ClusterInfo }) {
  const api = useClusters();
  const workspace = useWorkspace();
  const { span = '1h' } = route.useSearch();
  const navigate = route.useNavigate();
  const since = (): Date => new Date(Date.now() - SPANS[span].lengthMs);
  const heartbeats = useQuery(heartbeatsQuery(api, workspace, cluster.id, span, since));
  const [asTable, setAsTable] = useState(false);
  const drawn = spanOf(span, heartbeats.dataUpdatedAt);
  return (
    <section className={styles['page']} aria-label="Heartbeats over time" aria-busy={heartbeats.isPending}>
      <div className={styles['bar']}>
        <Select
          label="Period"
          labelHidden
          className={styles['span'] ?? ''}
          options={Object.entries(SPANS).flatMap(([value, { label }]) => (isSpan(value) ? [{ value, label }] : []))}
          value={span}
          onChange={(next) => void navigate({ search: { span: next }, replace: true, resetScroll: false })}
        />
        <Button onClick={() => setAsTable(!asTable)}>{asTable ? 'Show charts' : 'Show table'}</Button>
      </div>
      {heartbeats.isError ? (
        <ErrorState error={heartbeats.error} onRetry={() => void heartbeats.refetch()} />
      ) : heartbeats.data === undefined ? (
        <Skeletons />
      ) : (
        <Shown steps={stepsOf(heartbeats.data, drawn)} drawn={drawn} span={span} asTable={asTable} />
      )}
    </section>
  );
}

interface ShownProps {
  steps: readonly HeartbeatStep[];
  drawn: TimeSpan;
  span: HistorySpan;
  asTable: boolean;
}

function Shown({ steps, drawn, span, asTable }: ShownProps) {
  if (steps.length === 0) {
    return (
      <Panel padded={false}>
        <EmptyState icon={<ChartColumn size={18} />} title="No data for this period">
          A connected agent reports every 30 seconds.
        </EmptyState>
      </Panel>
    );
  }
  const formatTime = span === '1h' ? formatClock : formatMoment;
  if (asTable) return <HeartbeatTable steps={steps} formatTime={formatTime} />;
  const shared = { kind: 'level', unit: 'count', span: drawn, formatTime } as const;
  return (
    <div className={styles['three']}>
      <TimePlot {...shared} title="CPU" format={formatPercent} values={valuesOf(steps, 'cpuUsage', 100)} />
      <TimePlot {...shared} title="Memory" format={formatPercent} values={valuesOf(steps, 'memoryUsage', 100)} />
      <TimePlot {...shared} title="Pods" format={formatCount} values={valuesOf(steps, 'activePods')} />
    </div>
  );
}

interface HeartbeatTableProps {
  steps: readonly HeartbeatStep[];
  formatTime: (atMs: number) => string;
}

const figure = { align: 'end', width: '9rem', narrowWidth: '5rem' } as const;

/** Data of the plots, newest first. */
function HeartbeatTable({ steps, formatTime }: HeartbeatTableProps) {
  const columns: Column<HeartbeatStep>[] = [
    {
      id: 'at',
      header: 'Time',
      cell: ({ atMs }) => <time dateTime={new Date(atMs).toISOString()}>{formatTime(atMs)}</time>,
    },
    { ...figure, id: 'cpu', header: 'CPU', cell: ({ cpuUsage }) => formatPercent(cpuUsage * 100) },
    { ...figure, id: 'memory', header: 'Memory', cell: ({ memoryUsage }) => formatPercent(memoryUsage * 100) },
    { ...figure, id: 'pods', header: 'Pods', cell: ({ activePods }) => formatCount(activePods) },
  ];
  return (
    <Table
      caption="Heartbeats over time"
      columns={columns}
      rows={steps.toReversed()}
      rowKey={({ atMs }) => String(atMs)}
      empty={null}
    />
  );
}

function Skeletons() {
  return (
    <div className={styles['three']}>
      {['cpu', 'memory', 'pods'].map((each) => (
        <Skeleton key={each} width="100%" height="15.5rem" />
      ))}
    </div>
  );
}
