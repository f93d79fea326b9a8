import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContractSubject } from '@svc/sandboxes/testing/driver-contract';
import { buildProbe } from './build-probe.ts';
import type { EscapeCase } from './escape-case.ts';
import { fileCases } from './file-cases.ts';
import { groundOf, type Ground } from './ground.ts';
import { kernelCases } from './kernel-cases.ts';
import { networkCases } from './network-cases.ts';
import { secretCases } from './secret-cases.ts';
import { startOutside } from './outside.ts';
import { processCases } from './process-cases.ts';
import { volumeCases } from './volume-cases.ts';
import { resourceCases, type EmptyFiles } from './resource-cases.ts';

export type EscapeGroup = 'kernel' | 'processes' | 'files' | 'network' | 'secrets' | 'volumes' | 'resources';

/**
 * Runs every case against one driver, each with a control that proves it could have failed. `within`: attempts that
 * succeed but affect only the sandbox itself, with the reason. `leaves`: groups that the driver is not tried with.
 */
export function escapeTable(
  make: () => Promise<ContractSubject>,
  files: EmptyFiles,
  within: Readonly<Record<string, string>> = {},
  leaves: readonly EscapeGroup[] = [],
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
  });
  afterAll(async () => {
    const failures: unknown[] = [];
    for (const takeAway of made.toReversed()) await takeAway().catch((error: unknown) => failures.push(error));
    expect(failures).toEqual([]);
  });

  const suite = (group: EscapeGroup, cases: readonly EscapeCase[]): void => {
    if (leaves.includes(group)) return;
    describe(`${group}: a sandbox`, () => {
      for (const { title, attempt, control } of cases) {
        const harmless = within[title];
        it(harmless === undefined ? `never ${title}` : `${title}, within itself: ${harmless}`, async () => {
          expect(await attempt(ground)).toMatchObject({ done: harmless !== undefined });
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
