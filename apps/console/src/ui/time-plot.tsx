import { useState, type PointerEvent } from 'react';
import { classNames } from './class-names.ts';
import {
  centreOf,
  isDrawn,
  nearestTo,
  ticksOver,
  withoutGaps,
  type TimedValue,
  type TimeSpan,
} from './time-plot-scale.ts';
import styles from './time-plot.module.css';

export interface TimePlotProps {
  title: string;
  /** Values in chronological order. */
  values: readonly TimedValue[];
  span: TimeSpan;
  /**
   * A level applies at the end of its period and is drawn as a line; an amount accrues within it and is drawn as a bar.
   */
  kind: 'level' | 'amount';
  unit: 'bytes' | 'count';
  format: (value: number) => string;
  formatTime: (atMs: number) => string;
  /** Drawn as a line if the values come near it. */
  limit?: number | null;
}

/** Units of the drawing, which is stretched to the size of the plot. */
const WIDTH = 1_000;
const HEIGHT = 100;
/** Width of a bar, as a fraction of its period. */
const BREADTH = 0.72;

/**
 * Values over time, with axes. The value under the pointer, or else the newest or the sum, is shown next to the title.
 * For screen readers the plot is one image with a sentence, and the page also has a table.
 */
export function TimePlot(props: TimePlotProps) {
  const { title, values, span, kind, unit, format, formatTime, limit = null } = props;
  const [pointed, setPointed] = useState<TimedValue | null>(null);
  const highest = Math.max(0, ...values.map(({ value }) => value));
  const drawnLimit = isDrawn(limit, highest) ? limit : null;
  const ticks = ticksOver(Math.max(highest, drawnLimit ?? 0), unit);
  const top = ticks.at(-1) ?? 1;
  const point = (event: PointerEvent<HTMLElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setPointed(nearestTo((event.clientX - left) / width, values, span) ?? null);
  };
  return (
    <figure className={styles['figure']}>
      <figcaption className={styles['caption']}>
        <span className={styles['title']}>{title}</span>
        <strong className={styles['value']}>{format(pointed?.value ?? shownValue(props))}</strong>
        <span className={styles['when']}>{pointed === null ? formatCaption(props) : formatTime(pointed.atMs)}</span>
      </figcaption>
      <div className={styles['frame']}>
        <div className={styles['ticks']} aria-hidden="true">
          {ticks.map((tick) => (
            <span key={tick} style={{ bottom: `${(tick / top) * 100}%` }}>
              {format(tick)}
            </span>
          ))}
        </div>
        <div className={styles['canvas']} onPointerMove={point} onPointerLeave={() => setPointed(null)}>
          <svg
            className={classNames(styles['drawing'], styles[kind])}
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={describePlot(props)}
          >
            {ticks.map((tick) => (
              <path key={tick} className={styles['grid']} d={`M0 ${yOf(tick, top)}H${WIDTH}`} />
            ))}
            {kind === 'level' ? <Levels {...props} top={top} /> : <Amounts {...props} top={top} />}
            {drawnLimit !== null && <path className={styles['limit']} d={`M0 ${yOf(drawnLimit, top)}H${WIDTH}`} />}
          </svg>
          {pointed !== null && <Marker at={pointed} span={span} top={top} />}
        </div>
        <div className={styles['times']} aria-hidden="true">
          <span>{formatTime(span.fromMs)}</span>
          <span>{formatTime(span.toMs - span.stepMs)}</span>
        </div>
      </div>
    </figure>
  );
}

/** Text alternative of the plot. */
export function describePlot(props: TimePlotProps): string {
  const { title, values, kind, format, formatTime, limit = null } = props;
  const [first] = values;
  const last = values.at(-1);
  if (first === undefined || last === undefined) return `${title}: no data`;
  const highest = values.reduce((most, each) => (each.value > most.value ? each : most), first);
  const since = `since ${formatTime(first.atMs)}`;
  const peak = `peak ${format(highest.value)} on ${formatTime(highest.atMs)}`;
  const bound = limit === null ? '' : `, limit ${format(limit)}`;
  if (kind === 'amount') return `${title}: ${format(sumOf(values))} ${since}, ${peak}`;
  return `${title}: ${format(first.value)} ${since}, ${formatNewest(props)} ${format(last.value)}${bound}, ${peak}`;
}

function shownValue({ values, kind }: TimePlotProps): number {
  return kind === 'level' ? (values.at(-1)?.value ?? 0) : sumOf(values);
}

function formatCaption(props: TimePlotProps): string {
  const { kind, limit = null, format } = props;
  if (kind === 'amount') return 'total';
  const when = formatNewest(props);
  if (limit === null) return when;
  return when === 'now' ? `of ${format(limit)}` : `${when}, of ${format(limit)}`;
}

/** When the newest value was measured: one before the last period is not current. */
function formatNewest({ values, span, formatTime }: TimePlotProps): string {
  const last = values.at(-1);
  return last === undefined || last.atMs + span.stepMs >= span.toMs ? 'now' : `on ${formatTime(last.atMs)}`;
}

function sumOf(values: readonly TimedValue[]): number {
  return values.reduce((sum, { value }) => sum + value, 0);
}

interface DrawingProps extends TimePlotProps {
  /** The value at the upper edge. */
  top: number;
}

function Levels({ values, span, top }: DrawingProps) {
  const half = slotOf(span) * BREADTH * 0.5;
  return withoutGaps(values, span.stepMs).map((run) => {
    const [first] = run;
    const last = run.at(-1);
    if (first === undefined || last === undefined) return null;
    // An isolated value is drawn as a short line.
    const alone = run.length === 1 ? half : 0;
    const points = run.map(({ atMs, value }) => `${xOf(atMs, span)} ${yOf(value, top)}`);
    const [startX, endX] = [xOf(first.atMs, span) - alone, xOf(last.atMs, span) + alone];
    const line = `M${startX} ${yOf(first.value, top)}L${points.join('L')}L${endX} ${yOf(last.value, top)}`;
    return (
      <g key={first.atMs}>
        <path className={styles['area']} d={`${line}L${endX} ${HEIGHT}L${startX} ${HEIGHT}Z`} />
        <path className={styles['stroke']} d={line} />
      </g>
    );
  });
}

function Amounts({ values, span, top }: DrawingProps) {
  const width = slotOf(span) * BREADTH;
  return values.map(({ atMs, value }) => {
    const height = HEIGHT - yOf(value, top);
    if (height <= 0) return null;
    const x = xOf(atMs, span) - width / 2;
    return <rect key={atMs} className={styles['bar']} x={x} y={HEIGHT - height} width={width} height={height} />;
  });
}

/** The width of one period. */
function slotOf({ fromMs, toMs, stepMs }: TimeSpan): number {
  return (WIDTH * stepMs) / Math.max(1, toMs - fromMs);
}

function Marker({ at, span, top }: { at: TimedValue; span: TimeSpan; top: number }) {
  return (
    <span
      className={styles['marker']}
      style={{ left: `${centreOf(at.atMs, span) * 100}%`, bottom: `${(at.value / top) * 100}%` }}
    />
  );
}

function xOf(atMs: number, span: TimeSpan): number {
  return Math.round(centreOf(atMs, span) * WIDTH * 10) / 10;
}

function yOf(value: number, top: number): number {
  return Math.round((HEIGHT - (value / top) * HEIGHT) * 10) / 10;
}
