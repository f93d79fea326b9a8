import { describe, expect, it } from 'vitest';
import { chooseEntry, parseConfiguration, parseManifest, type IndexEntry } from './manifest.ts';

const DIGEST = `sha256:${'0'.repeat(64)}`;
const OCI = 'application/vnd.oci.image.manifest.v1+json';
const INDEX = 'application/vnd.oci.image.index.v1+json';
const config = { mediaType: 'application/vnd.oci.image.config.v1+json', digest: DIGEST, size: 2 };
const layer = { mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', digest: DIGEST, size: 9 };
const parse = (document: unknown, type = OCI) => parseManifest(Buffer.from(JSON.stringify(document)), type);
const image = (changes: object) => ({ schemaVersion: 2, mediaType: OCI, config, layers: [layer], ...changes });

describe('parseManifest', () => {
  it('parses OCI and Docker images', () => {
    expect(parse(image({}))).toMatchObject({ layers: [{ digest: DIGEST, sizeBytes: 9, compression: 'gzip' }] });
    const docker = 'application/vnd.docker.distribution.manifest.v2+json';
    const dockerConfig = { ...config, mediaType: 'application/vnd.docker.container.image.v1+json' };
    const dockerLayer = { ...layer, mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip' };
    const document = { schemaVersion: 2, mediaType: docker, config: dockerConfig, layers: [dockerLayer] };
    expect(parse(document, docker)).toMatchObject({ layers: [{ compression: 'gzip' }] });
  });

  it.each<[string, unknown, RegExp, string?]>([
    ['the first schema', { schemaVersion: 1, fsLayers: [] }, /schema that is not used any more/],
    ['what is no JSON object', [], /schema/],
    ['an index with layers', { ...image({}), manifests: [] }, /ambiguous/],
    ['an index that says it is an image', { schemaVersion: 2, mediaType: OCI, manifests: [] }, /not of the type/],
    ['an image that says it is an index', image({ mediaType: INDEX }), /not of the type/],
    [
      'something else than an image',
      image({ config: { ...config, mediaType: 'application/vnd.helm' } }),
      /no container/,
    ],
    ['a foreign layer', image({ layers: [{ ...layer, mediaType: 'x.foreign' }] }), /unsupported form x\.foreign/],
    [
      'a layer of a prototype',
      image({ layers: [{ ...layer, mediaType: 'constructor' }] }),
      /unsupported form constructor/,
    ],
    ['a layer without a digest', image({ layers: [{ ...layer, digest: 'sha256:../../etc' }] }), /by no digest/],
    ['a layer of a negative size', image({ layers: [{ ...layer, size: -1 }] }), /impossible size/],
    ['a configuration that is too large', image({ config: { ...config, size: 1e9 } }), /impossible size/],
    ['no layers', image({ layers: [] }), /no layers/],
    ['too many layers', image({ layers: Array.from({ length: 129 }, () => layer) }), /more than 128 layers/],
    ['an unknown type', { schemaVersion: 2 }, /text\/html is no image/, 'text/html'],
  ])('refuses %s', (_what, document, message, type = OCI) => {
    expect(() => parse(document, type)).toThrow(message);
  });

  it('refuses invalid JSON', () => {
    expect(() => parseManifest(Buffer.from('<html>'), OCI)).toThrow(/not JSON/);
  });
});

describe('chooseEntry', () => {
  const entry = (architecture: string, variant: string | null = null, os = 'linux'): IndexEntry => ({
    digest: `sha256:${architecture}${variant}${os}`,
    sizeBytes: 1,
    os,
    architecture,
    variant,
  });

  it('selects the architecture and its default variant', () => {
    const entries = [entry('unknown', null, 'unknown'), entry('arm', 'v7'), entry('arm64', 'v9'), entry('arm64', 'v8')];
    expect(chooseEntry(entries, 'arm64')).toBe(entries[3]);
    expect(chooseEntry([...entries, entry('amd64')], 'amd64').architecture).toBe('amd64');
    expect(chooseEntry([entry('amd64', 'v2'), entry('amd64', null, 'windows')], 'amd64').os).toBe('linux');
  });

  it('lists the available platforms if none matches', () => {
    const entries = [entry('unknown', null, 'unknown'), entry('s390x'), entry('s390x')];
    expect(() => chooseEntry(entries, 'amd64')).toThrow('there is none for linux/amd64, only for linux/s390x');
  });
});

describe('parseConfiguration', () => {
  it('requires a digest for each layer', () => {
    const document = (diffIds: unknown) => Buffer.from(JSON.stringify({ rootfs: { diff_ids: diffIds } }));
    expect(() => parseConfiguration(document([DIGEST]), 2)).toThrow(/does not name the layers/);
    expect(() => parseConfiguration(document(['sha256:no']), 1)).toThrow(/does not name the layers/);
    expect(() => parseConfiguration(document(undefined), 1)).toThrow(/does not name the layers/);
  });

  it('ignores invalid settings', () => {
    const content = {
      os: 'linux',
      architecture: 'amd64',
      config: { Env: ['PATH=/a', 'X=', '=y', 'nothing', 5], WorkingDir: 'relative', User: '', Cmd: ['sh'] },
      rootfs: { diff_ids: [DIGEST] },
    };
    expect(parseConfiguration(Buffer.from(JSON.stringify(content)), 1)).toMatchObject({
      platform: 'linux/amd64',
      settings: {
        environment: { PATH: '/a', X: '' },
        workingFolder: null,
        user: null,
        command: ['sh'],
        entrypoint: [],
      },
    });
  });
});
