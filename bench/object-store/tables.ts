import { markdownTable } from '../markdown-table.ts';
import type { Figure } from './alone/figure.ts';
import type { Comparison } from './compare.ts';
import type { SyncCount } from './engines/durability.ts';

export function comparisonTable(comparisons: readonly Comparison[]): string {
  const names = [...(comparisons[0]?.medians.keys() ?? [])];
  const rows = comparisons.map(({ measure, medians, ratio }) => [
    `${measure.name}, ${measure.unit}`,
    ...names.map((name) => (medians.get(name) ?? 0).toFixed(0)),
    ratio === undefined ? '' : ratio.toFixed(2),
    `>= ${measure.aim.toFixed(1)}`,
  ]);
  return markdownTable(['measure', ...names, 'svc to the best of the others', 'aim'], rows);
}

export function durabilityTable(counts: readonly SyncCount[]): string {
  if (counts.length === 0) return 'How often each engine syncs was not looked at: strace is not installed.';
  const rows = counts.map(({ engine, puts, syncs }) => [engine, String(puts), String(syncs)]);
  return markdownTable(['durable', 'objects put one by one', 'calls that bring data to the disk'], rows);
}

export function aloneTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, value, unit, aim }) => [
    name,
    `${value.toFixed(value < 100 ? 1 : 0)} ${unit}`,
    aim,
  ]);
  return markdownTable(['alone', 'measured', 'aim'], rows);
}
