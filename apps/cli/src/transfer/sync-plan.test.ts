import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareNames, planSync, type SyncEntry, type SyncRules } from './sync-plan.ts';

const RULES: SyncRules<SyncEntry, SyncEntry> = { deleteExtra: true, sizeOnly: false };

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item, void> {
  for (const item of items) yield item;
}

async function plan(
  sources: readonly SyncEntry[],
  targets: readonly SyncEntry[],
  rules: SyncRules<SyncEntry, SyncEntry> = RULES,
): Promise<string[]> {
  const actions: string[] = [];
  for await (const action of planSync(each(sources), each(targets), rules)) {
    const { name } = action.kind === 'delete' ? action.target : action.source;
    actions.push(`${action.kind} ${name}${action.kind === 'copy' ? ` ${action.reason}` : ''}`);
  }
  return actions;
}

const entry = (name: string, sizeBytes = 1, modifiedAtMs = 1000): SyncEntry => ({ name, sizeBytes, modifiedAtMs });

describe('a sync plan', () => {
  it('copies new, resized or newer files, skips the rest and deletes extraneous ones', async () => {
    const sources = [entry('a'), entry('b', 2), entry('c', 1, 2000), entry('d'), entry('é')];
    const targets = [entry('0'), entry('b'), entry('c'), entry('d', 1, 1500), entry('z'), entry('😀')];
    expect(await plan(sources, targets)).toEqual([
      'delete 0',
      'copy a new',
      'copy b size',
      'copy c newer',
      'skip d',
      'delete z',
      'copy é new',
      'delete 😀',
    ]);
    expect(await plan([], targets, { ...RULES, deleteExtra: false })).toEqual([]);
    expect(await plan([entry('c', 1, 2000)], [entry('c')], { ...RULES, sizeOnly: true })).toEqual(['skip c']);
  });

  it('ignores fractions of a millisecond', async () => {
    expect(await plan([entry('a', 1, 1234.9)], [entry('a', 1, 1234)])).toEqual(['skip a']);
    expect(await plan([entry('a', 1, 1235)], [entry('a', 1, 1234)])).toEqual(['copy a newer']);
  });

  it('ignores fractions of a second if the target stores only seconds', async () => {
    expect(await plan([entry('a', 1, 1999)], [entry('a', 1, 1000)])).toEqual(['skip a']);
    expect(await plan([entry('a', 1, 2000)], [entry('a', 1, 1000)])).toEqual(['copy a newer']);
  });

  it('compares contents on request, and then ignores times', async () => {
    const rules = { ...RULES, sameContent: (source: SyncEntry) => Promise.resolve(source.name === 'same') };
    const sources = [entry('other', 1, 1), entry('same', 1, 9000)];
    expect(await plan(sources, [entry('other'), entry('same')], rules)).toEqual(['copy other content', 'skip same']);
  });

  it('makes the names in the target equal to those of the source, whatever was there', async () => {
    const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3, unit: 'grapheme' }), { maxLength: 12 });
    const sorted = (list: string[]): SyncEntry[] => list.toSorted(compareNames).map((name) => entry(name));
    await fc.assert(
      fc.asyncProperty(names, names, async (left, right) => {
        const result = new Set(right);
        for await (const action of planSync(each(sorted(left)), each(sorted(right)), RULES)) {
          if (action.kind === 'delete') result.delete(action.target.name);
          else result.add(action.source.name);
        }
        expect([...result].toSorted()).toEqual(left.toSorted());
      }),
      { numRuns: 60 },
    );
  });
});
