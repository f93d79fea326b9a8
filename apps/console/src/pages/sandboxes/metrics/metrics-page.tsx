import type { SandboxMetrics } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ChartColumn } from 'lucide-react';
import { metricsQuery, useSandboxes } from '../../../api/sandboxes.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { useSandbox } from '../../../layouts/sandbox-layout.tsx';
import { useWorkspace } from '../../../session/use-session.ts';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { formatCount, formatPercent } from '../../../ui/format-number.ts';
import { formatClock } from '../../../ui/format-time.ts';
import { Panel } from '../../../ui/page.tsx';
import { Select } from '../../../ui/select.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../ui/states.tsx';
import { TimePlot } from '../../../ui/time-plot.tsx';
import { isSpan, SPANS, spanOf, valuesOf, type MetricsSpan } from './metrics-series.ts';
import styles from '../../../ui/plot-page.module.css';

const route = getRouteApi('/shell/w/$workspace/sandboxes/$sandbox/metrics');

export function MetricsPage() {
  const sandbox = useSandbox();
  const api = useSandboxes();
  const workspace = useWorkspace();
  const { span = '15m' } = route.useSearch();
  const navigate = route.useNavigate();
  const since = (): Date => new Date(Date.now() - SPANS[span].lengthMs);
  const metrics = useQuery(metricsQuery(api, workspace, sandbox.id, span, since));
  return (
    <section className={styles['page']} aria-label="Resource usage" aria-busy={metrics.isPending}>
      <Select
        label="Period"
        labelHidden
        className={styles['span'] ?? ''}
        options={Object.entries(SPANS).flatMap(([value, { label }]) => (isSpan(value) ? [{ value, label }] : []))}
        value={span}
        onChange={(next) => void navigate({ search: { span: next }, replace: true, resetScroll: false })}
      />
      {metrics.isError ? (
        <ErrorState error={metrics.error} onRetry={() => void metrics.refetch()} />
      ) : metrics.data === undefined ? (
        <Skeletons />
      ) : (
        <Plots sandbox={sandbox} metrics={metrics.data} span={span} nowMs={metrics.dataUpdatedAt} />
      )}
    </section>
  );
}

interface PlotsProps {
  sandbox: Sandbox;
  metrics: SandboxMetrics;
  span: MetricsSpan;
  nowMs: number;
}

function Plots({ sandbox, metrics, span, nowMs }: PlotsProps) {
  const values = valuesOf(metrics, 'memory_bytes');
  if (values.length === 0) {
    return (
      <Panel padded={false}>
        <EmptyState icon={<ChartColumn size={18} />} title="No data for this period">
          A running sandbox is measured every few seconds.
        </EmptyState>
      </Panel>
    );
  }
  const shared = { kind: 'level', span: spanOf(metrics, span, nowMs), formatTime: formatClock } as const;
  const bytes = { unit: 'bytes', format: formatBytes } as const;
  const { cpu, memory_mb: memoryMb, disk_mb: diskMb, pids } = sandbox.resources;
  return (
    <div className={styles['two']}>
      <TimePlot
        {...shared}
        title="CPU"
        unit="count"
        format={formatPercent}
        values={valuesOf(metrics, 'cpu_cores', 100)}
        limit={cpu * 100}
      />
      <TimePlot {...shared} {...bytes} title="Memory" values={values} limit={memoryMb * 1024 ** 2} />
      <TimePlot
        {...shared}
        title="Processes"
        unit="count"
        format={formatCount}
        values={valuesOf(metrics, 'pids')}
        limit={pids}
      />
      <TimePlot
        {...shared}
        {...bytes}
        title="Disk"
        values={valuesOf(metrics, 'disk_bytes')}
        limit={diskMb * 1024 ** 2}
      />
    </div>
  );
}

function Skeletons() {
  return (
    <div className={styles['two']}>
      {['cpu', 'memory', 'processes', 'disk'].map((each) => (
        <Skeleton key={each} width="100%" height="15.5rem" />
      ))}
    </div>
  );
}
