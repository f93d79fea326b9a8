import { migrations } from '@svc/migrations';
import { migrate, type Migration } from '@svc/sql';
import { describeDialects } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { findContractions } from './find-contractions.ts';
import { readSchema } from './read-schema.ts';

/** Versions that know nothing newer are refused on any newer schema, so their migrations need not expand. */
const LAST_BEFORE_THE_RULE = '0101-installation';

const ordered = migrations.toSorted((left, right) => (left.name < right.name ? -1 : 1));
const earlier = ordered.filter(({ name }) => name <= LAST_BEFORE_THE_RULE);
const ruled = ordered.slice(earlier.length);

describeDialects<unknown>('every migration', earlier, (database) => {
  it('leaves earlier versions working, or declares contractsAfter', { timeout: 120_000 }, async () => {
    const undeclared: string[] = [];
    let before = await readSchema(database());
    for (const [index, { name, contractsAfter }] of ruled.entries()) {
      await migrate(database(), [...earlier, ...ruled.slice(0, index + 1)]);
      const after = await readSchema(database());
      const found = findContractions(before, after);
      if (contractsAfter === undefined) undeclared.push(...found.map((each) => `${name} ${each}`));
      before = after;
    }
    expect(undeclared, 'see docs/decisions/0048-expand-and-contract.md').toEqual([]);
  });
});

describe('contractsAfter', () => {
  it('names a migration of the same target', () => {
    const misnamed = ordered.filter(
      ({ contractsAfter, target }) => contractsAfter !== undefined && !isKnown(contractsAfter, target),
    );
    expect(misnamed.map(({ name }) => name)).toEqual([]);
  });
});

/** On SQLite, each target has a file of its own, with its own migrations. */
function isKnown(name: string, target: Migration['target']): boolean {
  return migrations.some((each) => each.name === name && each.target === target);
}
