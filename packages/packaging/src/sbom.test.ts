import { describe, expect, it } from 'vitest';
import { createSbom, debianPurl, npmPurl, type Component } from './sbom.ts';

const stamp = { version: '1.2.3', gitCommit: 'abc', buildDate: '2026-01-02T03:04:05.000Z' };
const component = (name: string): Component => ({
  type: 'library',
  name,
  version: '1.0.0',
  purl: npmPurl(name, '1.0.0'),
});

describe('createSbom', () => {
  it('names the deliverable, its revision and the commit’s date', () => {
    expect(createSbom({ name: 'svc', type: 'container', stamp, components: [] })).toMatchObject({
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      metadata: {
        timestamp: '2026-01-02T03:04:05.000Z',
        component: { type: 'container', name: 'svc', version: '1.2.3', properties: [{ value: 'abc' }] },
      },
    });
  });

  it('lists each component once, in an order that does not depend on the input', () => {
    const bill = { name: 'svc', type: 'container', stamp } as const;
    const first = createSbom({ ...bill, components: [component('b'), component('a'), component('b')] });
    const second = createSbom({ ...bill, components: [component('a'), component('b')] });
    expect(JSON.stringify(first)).toBe(JSON.stringify(second));
    expect(first).toMatchObject({ components: [{ name: 'a' }, { name: 'b' }] });
  });
});

describe('package URLs', () => {
  it('escape the scope of npm and the signs of Debian versions', () => {
    expect(npmPurl('@scope/name', '1.0.0')).toBe('pkg:npm/%40scope/name@1.0.0');
    expect(debianPurl('libstdc++6', '12.2.0-14+deb12u1', 'amd64')).toBe(
      'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=amd64',
    );
  });
});
