import { KubernetesStatusError, type KubeClient, type KubeObject } from '@svc/kube';
import { describe, expect, it } from 'vitest';
import type { SandboxSpec } from '../../../domain/driver.ts';
import { ImageCatalog, type ImageSourceSpec } from '../../../domain/images/catalog.ts';
import type { PlatformImages } from '../../../domain/images/platform-images.ts';
import { PodImages } from './pod-images.ts';

const entry = (name: string, ...sources: ImageSourceSpec[]) => {
  return { name, displayName: name, description: '', category: 'os', tags: [], popular: false, aliases: [], sources };
};
const catalog = new ImageCatalog(
  [
    entry('debian', { kind: 'busybox' }, { kind: 'registry', reference: 'debian:13' }),
    entry('tiny', { kind: 'busybox' }),
  ],
  null,
);
const spec = (changes: Partial<SandboxSpec>): SandboxSpec => ({
  id: 'sbx_a',
  hostname: 'calm-otter',
  image: 'debian',
  resources: { cpuMillis: 1000, memoryMb: 128, diskMb: 64, pids: 64 },
  network: 'none',
  isolation: 'namespaces',
  ...changes,
});
const template = { digest: 'built-1', buildId: 'b', user: null, workingFolder: null, startCommand: null };

describe('the images of pods', () => {
  const signal = new AbortController().signal;
  const applied: KubeObject[] = [];
  const asked: string[] = [];
  let refuses = false;
  /** The part of a client that is used. */
  const client = {
    apply: async (object: KubeObject) => {
      if (refuses)
        throw new KubernetesStatusError({ status: 403, reason: 'Forbidden', message: 'secrets is forbidden' });
      applied.push(object);
      return { object, created: true, warnings: [] };
    },
  } as unknown as KubeClient;
  const platformImages: PlatformImages = {
    servesAll: false,
    hasTemplates: true,
    ofCatalog: async (image) => {
      asked.push(image);
      return `svc.example:443/svc-images/n/${image}:image`;
    },
    ofTemplate: async ({ digest }) => `svc.example:443/svc-templates/b/${digest}:image`,
    login: async () => ({ host: 'svc.example:443', username: 'cls-home', password: 'pass:word' }),
  };
  const place = { catalog, namespace: 'boxes', owner: 'abc' };
  const images = new PodImages({ ...place, platformImages });

  it('come from a registry that has them, without a secret of ours', async () => {
    expect(await images.find(spec({}), client, signal)).toEqual({
      image: 'docker.io/library/debian:13',
      imageSecret: null,
    });
    await images.prepare('debian', signal);
    expect([asked, applied]).toEqual([[], []]);
  });

  it('come from the platform otherwise, with its credential as a Secret of the type that nodes read', async () => {
    const imageSecret = 'svc-sandbox-images-abc';
    expect(await images.find(spec({ image: 'tiny' }), client, signal)).toEqual({
      image: 'svc.example:443/svc-images/n/tiny:image',
      imageSecret,
    });
    const [secret] = applied.splice(0);
    expect(secret).toMatchObject({
      kind: 'Secret',
      type: 'kubernetes.io/dockerconfigjson',
      metadata: { name: imageSecret, namespace: 'boxes' },
    });
    const { data } = secret as unknown as { readonly data: Record<string, string> };
    expect(JSON.parse(Buffer.from(data['.dockerconfigjson'] ?? '', 'base64').toString())).toEqual({
      auths: {
        'svc.example:443': {
          username: 'cls-home',
          password: 'pass:word',
          auth: Buffer.from('cls-home:pass:word').toString('base64'),
        },
      },
    });
    const made = await images.find(spec({ image: 'made', template }), client, signal);
    expect(made).toEqual({ image: 'svc.example:443/svc-templates/b/built-1:image', imageSecret });
  });

  it('come from the platform alone if the operator wants that', async () => {
    const all = new PodImages({ ...place, platformImages: { ...platformImages, servesAll: true } });
    const { image } = await all.find(spec({}), client, signal);
    expect(image).toBe('svc.example:443/svc-images/n/debian:image');
  });

  it('fail with what to grant if the credential cannot be stored', async () => {
    refuses = true;
    const failure: unknown = await images
      .find(spec({ image: 'tiny' }), client, signal)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'IMAGE_PULL_FAILED' });
    expect(String(failure)).toMatch(/create and patch secrets/);
    expect(String(failure)).not.toContain('word');
    refuses = false;
  });

  it('are only those of registries without a platform that serves others', async () => {
    const alone = new PodImages({ ...place, platformImages: null });
    await expect(alone.find(spec({ image: 'tiny' }), client, signal)).rejects.toMatchObject({
      code: 'IMAGE_PULL_FAILED',
    });
    await expect(alone.prepare('nothing', signal)).rejects.toMatchObject({ code: 'UNKNOWN_IMAGE' });
  });
});
