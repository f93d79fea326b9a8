import { toReason, type Outcome } from './outcome.ts';

/** One line of our plugin for pytest: a test has three phases, `setup`, `call` and `teardown`. */
export interface PhaseReport {
  /** The node ID: file, class and test. */
  readonly name: string;
  readonly phase: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** The failed line and its message. */
  readonly message: string;
  readonly seconds: number;
}

export function parseReport(text: string): PhaseReport[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as PhaseReport); // written by our own plugin
}

/** A test passes if all of its phases do; one that cannot clean up has failed. */
export function outcomesOf(phases: readonly PhaseReport[]): Outcome[] {
  const byName = Map.groupBy(phases, (phase) => phase.name);
  return [...byName]
    .map(([name, reports]) => outcomeOf(name, reports))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

function outcomeOf(name: string, reports: readonly PhaseReport[]): Outcome {
  const failed =
    reports.find(({ outcome, phase }) => outcome === 'failed' && phase !== 'teardown') ??
    reports.find(({ outcome }) => outcome === 'failed');
  if (failed !== undefined) {
    const when = failed.phase === 'call' ? '' : `in its ${failed.phase}: `;
    return { name, status: 'failed', reason: toReason(`${when}${failed.message.replace(/^\d+: /, '')}`) };
  }
  const skipped = reports.find(({ outcome }) => outcome === 'skipped');
  if (skipped !== undefined) return { name, status: 'skipped', reason: toReason(skipped.message) };
  return { name, status: 'passed', reason: '' };
}
