import { describe, expect, it } from 'vitest';
import { createCatalog } from './default-catalog.ts';

const catalog = (changes: object = {}) =>
  createCatalog({ images: [], default_image: 'debian', image_registry: 'docker.io', ...changes });

describe('the built-in catalog', () => {
  it('includes the aliases that clients use', () => {
    const names = ['ubuntu', 'ubuntu-24', 'debian', 'alpine', 'busybox', 'node', 'python'];
    expect(names.filter((name) => catalog().find(name) === null)).toEqual([]);
    expect(catalog().find('ubuntu:24.04')).toBeNull();
  });

  it("tries the registry first and falls back to this machine's packages", () => {
    expect(catalog().find('debian')?.sources).toEqual([
      { kind: 'registry', reference: 'docker.io/library/debian:stable' },
      { kind: 'debootstrap', suite: 'host', packages: [] },
    ]);
    expect(catalog().find('busybox')?.sources[0]).toEqual({ kind: 'busybox' });
  });

  it('makes the image for agents of packages, whatever the registry', () => {
    for (const registry of ['', 'docker.io']) {
      const sources = catalog({ image_registry: registry }).find('agents')?.sources;
      expect(sources).toMatchObject([{ kind: 'debootstrap', suite: 'host' }]);
      expect(sources?.[0]).toMatchObject({ packages: expect.arrayContaining(['python3', 'nodejs', 'git', 'curl']) });
    }
  });

  it('uses another registry for built-in images, or none', () => {
    const mirrored = catalog({ image_registry: 'registry.example:5000' });
    expect(mirrored.find('alpine')?.sources).toEqual([
      { kind: 'registry', reference: 'registry.example:5000/library/alpine:3' },
    ]);
    expect(catalog({ image_registry: '' }).find('alpine')).toBeNull();
    expect(catalog({ image_registry: '' }).find('debian')?.sources).toHaveLength(1);
  });

  it('lets configured images replace built-in ones and their aliases', () => {
    const own = { name: 'nodejs', sources: [{ kind: 'registry' as const, reference: 'registry.example/node:24' }] };
    const changed = catalog({ images: [own] });
    expect(changed.find('nodejs')?.sources).toEqual(own.sources);
    expect(changed.find('node')?.aliases).toEqual([]);
  });
});
