import type { Usage } from '@svc/sdk';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { formatCount } from '../../../ui/format-number.ts';
import { Meter } from '../../../ui/plots.tsx';
import styles from './usage.module.css';

/** Usage of the bucket's quota; empty if it has none. */
export function QuotaMeters({ usage, quota }: { usage: Usage; quota: NonNullable<Usage['quota']> }) {
  const last = usage.points.at(-1);
  const { max_bytes: maxBytes, max_objects: maxObjects } = quota;
  if (last === undefined || (maxBytes === null && maxObjects === null)) return null;
  return (
    <div className={styles['quotas']}>
      {maxBytes !== null && (
        <Quota label="Storage quota" value={last.size_bytes} limit={maxBytes} format={formatBytes} />
      )}
      {maxObjects !== null && (
        <Quota label="Object quota" value={last.object_count} limit={maxObjects} format={formatCount} />
      )}
    </div>
  );
}

interface QuotaProps {
  label: string;
  value: number;
  limit: number;
  format: (value: number) => string;
}

function Quota({ label, value, limit, format }: QuotaProps) {
  const percent = limit <= 0 ? 100 : (value / limit) * 100;
  return (
    <div className={styles['quota']}>
      <span>
        {label}: <strong>{format(value)}</strong> of {format(limit)}
      </span>
      <span className="muted">{percent > 0 && percent < 1 ? '<1' : Math.floor(percent)}%</span>
      <Meter label={label} value={value} limit={limit} text={`${format(value)} of ${format(limit)}`} />
    </div>
  );
}
