import type { Usage } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { ChartColumn } from 'lucide-react';
import { useState } from 'react';
import { usageQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { formatCount } from '../../../ui/format-number.ts';
import { Panel } from '../../../ui/page.tsx';
import { Select } from '../../../ui/select.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../ui/states.tsx';
import { useNow } from '../../../ui/time.tsx';
import { TimePlot } from '../../../ui/time-plot.tsx';
import { QuotaMeters } from './quota-meters.tsx';
import { beginningOf, DEFAULT_SPAN, isSpan, SPANS, type UsageSpan } from './usage-search.ts';
import { UsageTable } from './usage-table.tsx';
import { formatPeriod, spanOf, valuesOf, type UsageField } from './usage-series.ts';
import styles from '../../../ui/plot-page.module.css';

export interface UsagePlotsProps {
  /** Defaults to all buckets together. */
  bucket?: string;
  span: UsageSpan | undefined;
  onSpan: (span: UsageSpan) => void;
}

/** Stored and transferred amounts as plots and optionally as a table. */
export function UsagePlots({ bucket, span = DEFAULT_SPAN, onSpan }: UsagePlotsProps) {
  const svc = useSvc();
  const workspace = useWorkspace();
  const { resolution } = SPANS[span];
  const usage = useQuery(
    usageQuery(svc, workspace, { bucket, span, resolution, from: () => beginningOf(span, Date.now()) }),
  );
  const [asTable, setAsTable] = useState(false);
  return (
    <section className={styles['page']} aria-label="Usage over time" aria-busy={usage.isPending}>
      <div className={styles['bar']}>
        <Select
          label="Period"
          labelHidden
          className={styles['span'] ?? ''}
          options={Object.entries(SPANS).flatMap(([value, { label }]) => (isSpan(value) ? [{ value, label }] : []))}
          value={span}
          onChange={onSpan}
        />
        <Button onClick={() => setAsTable(!asTable)}>{asTable ? 'Show charts' : 'Show table'}</Button>
      </div>
      {usage.isError ? (
        <ErrorState error={usage.error} onRetry={() => void usage.refetch()} />
      ) : usage.data === undefined ? (
        <Skeletons />
      ) : (
        <Shown usage={usage.data} asTable={asTable} />
      )}
    </section>
  );
}

function Shown({ usage, asTable }: { usage: Usage; asTable: boolean }) {
  if (usage.points.length === 0) {
    return (
      <Panel padded={false}>
        <EmptyState icon={<ChartColumn size={18} />} title="No usage data yet">
          Usage is recorded every minute. The first data appears shortly after you create a bucket.
        </EmptyState>
      </Panel>
    );
  }
  return (
    <>
      {usage.quota !== null && <QuotaMeters usage={usage} quota={usage.quota} />}
      {asTable ? <UsageTable usage={usage} /> : <Plots usage={usage} />}
    </>
  );
}

function Plots({ usage }: { usage: Usage }) {
  const nowMs = useNow();
  const shared = {
    span: spanOf(usage),
    formatTime: (atMs: number) => formatPeriod(atMs, usage.resolution, nowMs),
  };
  const of = (field: UsageField) => ({ ...shared, values: valuesOf(usage, field) });
  const bytes = { unit: 'bytes', format: formatBytes } as const;
  const count = { unit: 'count', format: formatCount } as const;
  const { max_bytes: maxBytes = null, max_objects: maxObjects = null } = usage.quota ?? {};
  return (
    <>
      <div className={styles['two']}>
        <TimePlot title="Stored" kind="level" {...bytes} {...of('size_bytes')} limit={maxBytes} />
        <TimePlot title="Objects" kind="level" {...count} {...of('object_count')} limit={maxObjects} />
      </div>
      <div className={styles['three']}>
        <TimePlot title="Requests" kind="amount" {...count} {...of('request_count')} />
        <TimePlot title="Received" kind="amount" {...bytes} {...of('bytes_in')} />
        <TimePlot title="Sent" kind="amount" {...bytes} {...of('bytes_out')} />
      </div>
    </>
  );
}

function Skeletons() {
  return (
    <>
      <div className={styles['two']}>
        <Skeleton width="100%" height="15.5rem" />
        <Skeleton width="100%" height="15.5rem" />
      </div>
      <div className={styles['three']}>
        <Skeleton width="100%" height="15.5rem" />
        <Skeleton width="100%" height="15.5rem" />
        <Skeleton width="100%" height="15.5rem" />
      </div>
    </>
  );
}
