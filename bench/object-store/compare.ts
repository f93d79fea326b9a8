import type { Engine } from './engines/engine.ts';
import type { Measure } from './measures/measure.ts';

export interface Comparison {
  readonly measure: Measure;
  /** Engine -> median of its rounds. */
  readonly medians: ReadonlyMap<string, number>;
  /** Ours relative to the best other engine; undefined if there was none. */
  readonly ratio: number | undefined;
}

/** Rounds of all engines are interleaved in a different order each time, so that other load affects each alike. */
export async function compareEngines(
  engines: readonly Engine[],
  measures: readonly Measure[],
  rounds: number,
  progress: (line: string) => void,
): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const measure of measures) {
    const figures = new Map<string, number[]>();
    for (const engine of engines) await measure.prepare(engine);
    for (let round = 0; round < rounds; round += 1) {
      for (let turn = 0; turn < engines.length; turn += 1) {
        const engine = engines[(round + turn) % engines.length];
        if (engine === undefined) continue;
        const figure = await measure.run(engine, round);
        progress(`${measure.name}, round ${round + 1}, ${engine.name}: ${figure.toFixed(0)} ${measure.unit}`);
        figures.set(engine.name, [...(figures.get(engine.name) ?? []), figure]);
      }
    }
    const medians = new Map([...figures].map(([name, values]) => [name, median(values)]));
    comparisons.push({ measure, medians, ratio: ratioOf(medians) });
  }
  return comparisons;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function ratioOf(medians: ReadonlyMap<string, number>): number | undefined {
  const others = [...medians].filter(([name]) => name !== 'svc').map(([, value]) => value);
  const ours = medians.get('svc');
  return others.length === 0 || ours === undefined ? undefined : ours / Math.max(...others);
}
