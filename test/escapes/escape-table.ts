import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProbe } from './build-probe.ts';
import type { EscapeCase } from './escape-case.ts';
import { groundOf, type EscapeSubject, type Ground } from './ground.ts';
import { escapeGroups, type EscapeGroup } from './groups.ts';
import { startOutside, TURN_LIMIT_MS } from './outside.ts';
import { refusalCases, type Feature } from './refusal-cases.ts';
import type { EmptyFiles } from './resource-cases.ts';

export interface EscapeDifferences {
  /** Attempts that succeed but affect only the sandbox itself, with the reason. */
  readonly within?: Readonly<Record<string, string>>;
  /** Groups that the driver is not tried with. */
  readonly leaves?: readonly EscapeGroup[];
  /** What the driver lacks: it must refuse it by name. */
  readonly lacks?: readonly Feature[];
}

const SETUP_LIMIT_MS = 5 * 60_000;
/** The first case of a group also starts what its attempts are made from. */
const CASE_LIMIT_MS = 3 * 60_000;

/** Runs every case against one driver, each with a control that proves it could have failed. */
export function escapeTable(
  make: () => Promise<EscapeSubject>,
  files: EmptyFiles,
  { within = {}, leaves = [], lacks = [] }: EscapeDifferences = {},
): void {
  let ground: Ground;
  // Cleaned up at the end in reverse order, each regardless of the others' failures.
  const made: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    const probe = await buildProbe();
    made.push(() => probe.remove());
    const outside = await startOutside();
    made.push(() => outside.close());
    const subject = await make();
    made.push(() => subject.dispose());
    expect(await subject.driver.open()).toMatchObject({ available: true });
    ground = groundOf(subject, outside, probe);
    made.push(() => ground.close());
  }, TURN_LIMIT_MS + SETUP_LIMIT_MS);
  afterAll(async () => {
    const failures: unknown[] = [];
    for (const takeAway of made.toReversed()) await takeAway().catch((error: unknown) => failures.push(error));
    expect(failures).toEqual([]);
  });

  const suite = (group: EscapeGroup, cases: readonly EscapeCase[]): void => {
    describe(`${group}: a sandbox`, () => {
      for (const { title, attempt, control } of cases) {
        it(describeCase(title, within[title]), { timeout: CASE_LIMIT_MS }, async () => {
          const tried = await attempt(ground);
          expect(tried.done, tried.detail).toBe(title in within);
          const allowed = await control(ground);
          expect(allowed.done, `the control: ${allowed.detail}`).toBe(true);
        });
      }
    });
  };
  for (const { group, cases, feature } of escapeGroups(files)) {
    if (leaves.includes(group)) continue;
    const isRefused = feature !== null && lacks.includes(feature);
    suite(group, isRefused ? refusalCases(feature) : cases);
  }
}

function describeCase(title: string, harmless: string | undefined): string {
  return harmless === undefined ? `never ${title}` : `${title}, within itself: ${harmless}`;
}
