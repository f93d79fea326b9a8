import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContractSubject } from '@svc/sandboxes/testing/driver-contract';
import { buildProbe } from './build-probe.ts';
import type { EscapeCase } from './escape-case.ts';
import { fileCases } from './file-cases.ts';
import { groundOf, type Ground } from './ground.ts';
import { kernelCases } from './kernel-cases.ts';
import { networkCases } from './network-cases.ts';
import { secretCases } from './secret-cases.ts';
import { startOutside, TURN_LIMIT_MS } from './outside.ts';
import { processCases } from './process-cases.ts';
import { volumeCases } from './volume-cases.ts';
import { resourceCases, type EmptyFiles } from './resource-cases.ts';

export type EscapeGroup = 'kernel' | 'processes' | 'files' | 'network' | 'secrets' | 'volumes' | 'resources';

export interface EscapeDifferences {
  /** Attempts that succeed but affect only the sandbox itself, with the reason. */
  readonly within?: Readonly<Record<string, string>>;
  /** Groups that the driver is not tried with. */
  readonly leaves?: readonly EscapeGroup[];
}

const SETUP_LIMIT_MS = 5 * 60_000;

/** Runs every case against one driver, each with a control that proves it could have failed. */
export function escapeTable(
  make: () => Promise<ContractSubject>,
  files: EmptyFiles,
  { within = {}, leaves = [] }: EscapeDifferences = {},
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
    if (leaves.includes(group)) return;
    describe(`${group}: a sandbox`, () => {
      for (const { title, attempt, control } of cases) {
        it(describeCase(title, within[title]), async () => {
          expect(await attempt(ground)).toMatchObject({ done: title in within });
          expect(await control(ground), 'the control').toMatchObject({ done: true });
        });
      }
    });
  };
  suite('kernel', kernelCases());
  suite('processes', processCases());
  suite('files', fileCases());
  suite('network', networkCases());
  suite('secrets', secretCases());
  suite('volumes', volumeCases());
  suite('resources', resourceCases(files));
}

function describeCase(title: string, harmless: string | undefined): string {
  return harmless === undefined ? `never ${title}` : `${title}, within itself: ${harmless}`;
}
