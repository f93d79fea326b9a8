export interface TimedValue {
  /** Start of its period. */
  atMs: number;
  value: number;
}

/** The range of a plot: whole periods, from the start of the first to the end of the last. */
export interface TimeSpan {
  fromMs: number;
  toMs: number;
  stepMs: number;
}

/** The middle of a period, as a fraction of the plot's width. */
export function centreOf(atMs: number, { fromMs, toMs, stepMs }: TimeSpan): number {
  return (atMs + stepMs / 2 - fromMs) / Math.max(1, toMs - fromMs);
}

/** Splits values at gaps: a line must not suggest values that were not measured. */
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

/** Returns the value whose period is nearest to a fraction of the width. */
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

/** Returns readable, even steps from zero up to the first at or above the highest value. */
export function ticksOver(highest: number, unit: 'bytes' | 'count'): number[] {
  const power = unit === 'bytes' && highest >= 1024 ? Math.floor(Math.log(highest) / Math.log(1024)) : 0;
  const base = 1024 ** power;
  const rough = Math.max(1, highest / base) / 3;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const fine = (STEPS.find((step) => step * decade >= rough) ?? 10) * decade;
  // Counts and bytes have no fractions.
  const step = Math.max(fine, power === 0 ? 1 : 0) * base;
  const count = Math.max(1, Math.ceil(highest / step));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** A limit far above the values would flatten them, so it is only mentioned. */
export function isDrawn(limit: number | null, highest: number): limit is number {
  return limit !== null && limit <= Math.max(4 * highest, 1);
}
