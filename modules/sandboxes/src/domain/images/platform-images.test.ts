import { describe, expect, it } from 'vitest';
import { ImageCatalog, type ImageSourceSpec } from './catalog.ts';
import { assertPullable, whyUnreachable, type ImageService } from './platform-images.ts';

describe('the address of the platform’s registry', () => {
  it.each(['https://svc.example', 'https://svc.example:4443', 'https://10.0.0.7:4443', 'https://[2001:db8::1]'])(
    'may be %s',
    (url) => expect(whyUnreachable(url)).toBeNull(),
  );

  it.each([
    'https://localhost:4443',
    'https://svc.localhost',
    'https://127.0.0.1:4443',
    'https://127.1.2.3',
    'https://0.0.0.0:4443',
    'https://[::1]:4443',
    'https://[::]:4443',
  ])('is not %s, which is each node itself', (url) => {
    expect(whyUnreachable(url)).toMatch(/set public_url to an https URL/);
  });
});

describe('an image for pods', () => {
  const entry = (name: string, ...sources: ImageSourceSpec[]) => {
    return { name, displayName: name, description: '', category: 'os', tags: [], popular: false, aliases: [], sources };
  };
  const catalog = new ImageCatalog(
    [
      entry('tiny', { kind: 'busybox' }),
      entry('debian', { kind: 'debootstrap', suite: 'host', packages: [] }, { kind: 'registry', reference: 'debian' }),
    ],
    null,
  );
  const template = { digest: 'built-1', buildId: 'b', user: null, workingFolder: null, startCommand: null };
  const [HERE, PUBLIC] = ['https://127.0.0.1:4443', 'https://svc.example'].map((url) => {
    return { secureUrl: () => url, servesAll: false };
  }) as [ImageService, ImageService]; // two
  const pods = { pullsImages: true };
  const refusal = expect.objectContaining({ code: 'REGISTRY_UNREACHABLE' });

  it('is refused by name if only the platform has it, and nodes cannot reach the platform', () => {
    expect(() => assertPullable({ image: 'tiny', template: null }, pods, catalog, HERE)).toThrow(refusal);
    expect(() => assertPullable({ image: 'made', template }, pods, catalog, HERE)).toThrow(refusal);
    assertPullable({ image: 'tiny', template: null }, pods, catalog, PUBLIC);
    assertPullable({ image: 'made', template }, pods, catalog, PUBLIC);
  });

  it('comes from a registry if it has one, and other drivers pull nothing', () => {
    assertPullable({ image: 'debian', template: null }, pods, catalog, HERE);
    assertPullable({ image: 'tiny', template: null }, {}, catalog, HERE);
    const all = { ...HERE, servesAll: true };
    expect(() => assertPullable({ image: 'debian', template: null }, pods, catalog, all)).toThrow(refusal);
  });
});
