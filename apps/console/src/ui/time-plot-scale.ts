export interface TimedValue {
  /** The beginning of its period. */
  atMs: number;
  value: number;
}

/** What a plot shows: whole periods, from the beginning of the first to the end of the last. */
export interface TimeSpan {
  fromMs: number;
  toMs: number;
  stepMs: number;
}

/** The middle of a period, as a share of the plot's width. */
export function centreOf(atMs: number, { fromMs, toMs, stepMs }: TimeSpan): number {
  return (atMs + stepMs / 2 - fromMs) / Math.max(1, toMs - fromMs);
}

/** The values between gaps: a line must not claim values that were not measured. */
export function withoutGaps(values: readonly TimedValue[], stepMs: number): TimedValue[][] {
  const runs: TimedValue[][] = [];
  let before: TimedValue | undefined;
  for (const value of values) {
    const run = runs.at(-1);
    if (run !== undefined && before !== undefined && value.atMs - before.atMs < 1.5 * stepMs) run.push(value);
    else runs.push([value]);
    before = value;
  }
  return runs;
}

/** The value whose period is nearest to a share of the width. */
export function nearestTo(share: number, values: readonly TimedValue[], span: TimeSpan): TimedValue | undefined {
  let nearest: TimedValue | undefined;
  let distance = Infinity;
  for (const value of values) {
    const own = Math.abs(centreOf(value.atMs, span) - share);
    if (own < distance) [nearest, distance] = [value, own];
  }
  return nearest;
}

const STEPS = [1, 2, 5, 10];

/** From zero in even steps that people read easily, up to the first at or over the highest value. */
export function ticksOver(highest: number, unit: 'bytes' | 'count'): number[] {
  const power = unit === 'bytes' && highest >= 1024 ? Math.floor(Math.log(highest) / Math.log(1024)) : 0;
  const base = 1024 ** power;
  const rough = Math.max(1, highest / base) / 3;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const fine = (STEPS.find((step) => step * decade >= rough) ?? 10) * decade;
  // There is no half of an object, and none of a byte.
  const step = Math.max(fine, power === 0 ? 1 : 0) * base;
  const count = Math.max(1, Math.ceil(highest / step));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** A limit far above the values would press them flat: such a one is only said, not drawn. */
export function isDrawn(limit: number | null, highest: number): limit is number {
  return limit !== null && limit <= Math.max(4 * highest, 1);
}
