import { describe, expect, it } from 'vitest';
import { inventoryName, unionOf, withoutThese } from './inventory.ts';

const entry = (name: string, apiVersion = 'v1', uid?: string) => ({
  apiVersion,
  kind: 'ConfigMap',
  namespace: 'default',
  name,
  ...(uid === undefined ? {} : { uid }),
});

describe('the inventory', () => {
  it('holds old and new together before anything changes, with the known ids of objects', () => {
    expect(unionOf([entry('a', 'v1', 'u1'), entry('b')], [entry('a'), entry('c')])).toEqual([
      entry('a', 'v1', 'u1'),
      entry('b'),
      entry('c'),
    ]);
  });

  it('does not take the same object in another version for another one', () => {
    expect(withoutThese([entry('a', 'x.dev/v1beta1'), entry('b', 'x.dev/v1')], [entry('a', 'x.dev/v1')])).toEqual([
      entry('b', 'x.dev/v1'),
    ]);
  });

  it('has a name of its own for ids that look alike', () => {
    const names = ['shop', 'Shop', 'sh_op', 'sh.op', '___'].map(inventoryName);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
  });
});
