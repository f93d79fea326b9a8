import { classNames } from './class-names.ts';
import { linePath } from './plot-path.ts';
import styles from './plots.module.css';

export interface LinePlotProps {
  /** Accessible label; the last value is appended. */
  label: string;
  /** Oldest first, evenly spaced in time, across the full width. */
  values: readonly number[];
  format: (value: number) => string;
}

const WIDTH = 240;
const HEIGHT = 40;

/** A line without axes that shows the recent trend. */
export function LinePlot({ label, values, format }: LinePlotProps) {
  const { line, area } = linePath(values, { width: WIDTH, height: HEIGHT });
  return (
    <svg
      className={classNames(styles['line'], styles['accent'])}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}, now ${format(values.at(-1) ?? 0)}`}
    >
      <path d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} className={styles['base']} />
      {area !== '' && <path d={area} className={styles['area']} />}
      {line !== '' && <path d={line} className={styles['stroke']} />}
    </svg>
  );
}

export interface Share {
  label: string;
  value: number;
  tone: 'ok' | 'accent' | 'warn' | 'neutral';
}

/** The parts of a whole as one bar. */
export function ShareBar({ label, shares }: { label: string; shares: readonly Share[] }) {
  const shown = shares.filter(({ value }) => value > 0);
  const words = shown.map((share) => `${share.value} ${share.label.toLowerCase()}`).join(', ');
  return (
    <div className={styles['shares']} role="img" aria-label={`${label}: ${words || 'none'}`}>
      {shown.map((share) => (
        <span
          key={share.label}
          className={classNames(styles['share'], styles[`${share.tone}Share`])}
          style={{ flexGrow: share.value }}
          title={`${share.label}: ${share.value}`}
        />
      ))}
    </div>
  );
}

export interface Bar {
  label: string;
  value: number;
}

/** Bars over equal periods, such as hours. Each has its own value; together they are one image for screen readers. */
export function BarPlot({ label, bars, heightRem = 4 }: { label: string; bars: readonly Bar[]; heightRem?: number }) {
  const highest = Math.max(1, ...bars.map((bar) => bar.value));
  return (
    <div className={styles['bars']} role="img" aria-label={label} style={{ height: `${heightRem}rem` }}>
      {bars.map((bar) => (
        <span key={bar.label} className={styles['slot']} title={`${bar.label}: ${bar.value}`}>
          <span
            className={classNames(styles['bar'], bar.value === 0 && styles['none'])}
            style={{ height: bar.value === 0 ? '2px' : `max(3px, ${(bar.value / highest) * 100}%)` }}
          />
        </span>
      ))}
    </div>
  );
}

export interface MeterProps {
  label: string;
  value: number;
  limit: number;
  /** Replaces the plain numbers. */
  text?: string;
  /** `limit` warns when usage is close; `share` does not. */
  tone?: 'limit' | 'share';
}

/** Usage of a limit. */
export function Meter({ label, value, limit, text = `${value} of ${limit}`, tone = 'limit' }: MeterProps) {
  const share = limit <= 0 ? 0 : Math.min(1, value / limit);
  return (
    <div
      className={styles['meter']}
      role="meter"
      aria-label={label}
      aria-valuenow={value}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuetext={text}
    >
      <span
        className={classNames(styles['fill'], tone === 'limit' && share >= 0.9 && styles['full'])}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  );
}
