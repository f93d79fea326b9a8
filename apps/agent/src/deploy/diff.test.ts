import { describe, expect, it } from 'vitest';
import { differencesBetween } from './diff.ts';

const base = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: '1', resourceVersion: '5' } };

describe('a diff', () => {
  it('names each field with the values before and after, and omits server-managed fields', () => {
    const before = { ...base, data: { a: '1', gone: 'x' }, list: [1, 2] };
    const after = {
      ...base,
      metadata: { ...base.metadata, resourceVersion: '6' },
      data: { a: '2', b: 'new' },
      list: [1, 3, 4],
    };
    expect(differencesBetween(before, after)).toEqual([
      { path: '.data.a', before: '"1"', after: '"2"' },
      { path: '.data.gone', before: '"x"' },
      { path: '.data.b', after: '"new"' },
      { path: '.list[1]', before: '2', after: '3' },
      { path: '.list[2]', after: '4' },
    ]);
  });

  it('of a new object lists its fields, but no server-managed ones', () => {
    const metadata = {
      ...base.metadata,
      labels: { app: 'a' },
      managedFields: [{ manager: 'm', operation: 'Apply' }],
      creationTimestamp: 'now',
      generation: 1,
    };
    expect(differencesBetween(null, { ...base, metadata, data: { a: '1' } })).toEqual([
      { path: '.apiVersion', after: '"v1"' },
      { path: '.kind', after: '"ConfigMap"' },
      { path: '.metadata.name', after: '"a"' },
      { path: '.metadata.labels', after: '{"app":"a"}' },
      { path: '.data', after: '{"a":"1"}' },
    ]);
  });

  it('does not reveal values of a Secret', () => {
    const before = { ...base, kind: 'Secret', data: { password: 'b2xk' } };
    const after = { ...base, kind: 'Secret', data: { password: 'bmV3' } };
    const text = JSON.stringify(differencesBetween(before, after));
    expect(text).toContain('.data.password');
    expect(text).not.toMatch(/b2xk|bmV3/);
    expect(JSON.stringify(differencesBetween(null, after))).not.toContain('bmV3');
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"bmV3"}}' };
    const annotated = { ...after, metadata: { ...after.metadata, annotations } };
    expect(JSON.stringify(differencesBetween(before, annotated))).not.toContain('bmV3');
    expect(JSON.stringify(differencesBetween(null, annotated))).not.toContain('bmV3');
  });

  it('is limited in size', () => {
    const data = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 'v'.repeat(5000)]));
    const differences = differencesBetween({ ...base, data: {} }, { ...base, data });
    expect(differences).toHaveLength(256);
    expect(JSON.stringify(differences).length).toBeLessThan(400_000);
  });
});
