import { describe, expect, it } from 'vitest';
import { inventoryName, mergeEntries, withoutThese } from './inventory.ts';

const entry = (name: string, apiVersion = 'v1', uid?: string) => ({
  apiVersion,
  kind: 'ConfigMap',
  namespace: 'default',
  name,
  ...(uid === undefined ? {} : { uid }),
});

describe('the inventory', () => {
  it('lists old and new objects before anything changes, with the known uids', () => {
    expect(mergeEntries([entry('a', 'v1', 'u1'), entry('b')], [entry('a'), entry('c')])).toEqual([
      entry('a', 'v1', 'u1'),
      entry('b'),
      entry('c'),
    ]);
  });

  it('treats an object as the same across API versions', () => {
    expect(withoutThese([entry('a', 'x.dev/v1beta1'), entry('b', 'x.dev/v1')], [entry('a', 'x.dev/v1')])).toEqual([
      entry('b', 'x.dev/v1'),
    ]);
  });

  it('has distinct names for similar ids', () => {
    const names = ['shop', 'Shop', 'sh_op', 'sh.op', '___'].map(inventoryName);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
  });
});
