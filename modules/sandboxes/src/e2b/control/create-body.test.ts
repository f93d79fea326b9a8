import type { Grant, Principal } from '@svc/access';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { sandboxesConfigSchema } from '../../config.ts';
import { ImageCatalog, type ImageEntry } from '../../domain/images/catalog.ts';
import { IsolationPolicy } from '../../domain/isolation.ts';
import { createSandboxSchema, toDomainRequest } from './create-body.ts';

function image(name: string): ImageEntry {
  return {
    name,
    displayName: name,
    description: '',
    category: 'os',
    tags: [],
    popular: false,
    aliases: [],
    sources: [],
  };
}

const grant: Grant = { workspaceUuid: 'w', role: 'service_account', teamUuid: null };

function principal(kind: Principal['kind']): Principal {
  return { kind, id: 'p', name: 'p', credential: 'service_account', credentialId: 'p', expiresAt: null };
}

describe('a create request of an E2B client', () => {
  const config = Value.Create(sandboxesConfigSchema);
  const convert = (
    more: object,
    kind: Principal['kind'] = 'service_account',
    images = ['debian', 'ubuntu-22'],
    limitsEgress = true,
  ) => {
    const body: unknown = { templateID: 'base', ...more };
    if (!Value.Check(createSandboxSchema, body)) throw new Error('the route refuses it');
    return toDomainRequest(body, principal(kind), grant, {
      config,
      catalog: new ImageCatalog(images.map(image), images[0] ?? null),
      limitsEgress,
      secretNames: async () => new Set(['openai-api-key', 'OLD_KEY']),
      isolation: new IsolationPolicy('namespaces', { whyUnsupported: () => null }),
      templates: { resolve: async () => null, usable: () => Promise.reject(new Error('no templates')) },
      snapshots: { usable: () => Promise.reject(new Error('no snapshots')) },
      volumes: {
        resolve: async (_workspace, wanted) => wanted.map((mount) => ({ ...mount, volumeId: `vol_${mount.name}` })),
      },
    });
  };

  it('mounts volumes to write', async () => {
    const mount = { name: 'data', path: '/data' };
    const made = await convert({ volumeMounts: [mount] });
    expect(made.volumes).toEqual([{ ...mount, readOnly: false, volumeId: 'vol_data' }]);
    await expect(convert({ volumeMounts: [mount] }, 'guest')).rejects.toMatchObject({ code: 'VOLUMES_OF_GUESTS' });
  });

  it('is one of ours: metadata are labels, variables the environment, the timeout the lifetime', async () => {
    const made = await convert({ metadata: { a: 'b' }, envVars: { C: 'd' }, timeout: 60, secure: false });
    expect(made).toMatchObject({
      image: 'debian',
      labels: { a: 'b' },
      environment: { C: 'd' },
      maxLifetimeSeconds: 60,
      onExpiry: 'delete',
      resumeSeconds: null,
      network: 'egress',
      egressAllow: null,
    });
    expect(await convert({})).toMatchObject({ maxLifetimeSeconds: 300 });
  });

  it.each([
    ['base', ['debian'], 'debian'],
    ['base', ['debian', 'base'], 'base'],
    ['e2bdev/base', ['debian'], 'debian'],
    ['ubuntu:22.04', ['debian', 'ubuntu-22'], 'ubuntu-22'],
    ['debian:latest', ['debian'], 'debian'],
  ])('finds the template %s among %j', async (templateID, images, expected) => {
    expect(await convert({ templateID }, 'service_account', images)).toMatchObject({ image: expected });
  });

  it.each(['missing', 'constructor', 'ubuntu:22.04'])('does not know the template %s', async (templateID) => {
    await expect(convert({ templateID }, 'service_account', ['debian'])).rejects.toMatchObject({
      code: 'TEMPLATE_NOT_FOUND',
      status: 404,
    });
  });

  it.each([
    [{ allow_internet_access: false }, { network: 'egress', egressAllow: [] }],
    [{ network: { denyOut: ['0.0.0.0/0'] } }, { network: 'egress', egressAllow: [] }],
    [{ network: { allowOut: ['a.com'], denyOut: ['0.0.0.0/0'] } }, { network: 'egress', egressAllow: ['a.com'] }],
    [
      { allow_internet_access: false, network: { allowOut: ['a.com'] } },
      { network: 'egress', egressAllow: ['a.com'] },
    ],
    [{ network: { allowOut: ['0.0.0.0/0'], denyOut: ['0.0.0.0/0'] } }, { network: 'egress', egressAllow: null }],
    [{ network: { allowOut: ['a.com'] } }, { network: 'egress', egressAllow: null }],
    [
      { network: { allowOut: ['a.com', '1.1.1.1', '10.0.0.1/8'], denyOut: ['0.0.0.0/0'] } },
      { network: 'egress', egressAllow: ['a.com', '1.1.1.1/32', '10.0.0.0/8'] },
    ],
    [
      { network: { allowOut: ['a.com'], denyOut: ['128.0.0.0/1', '::/0'] } },
      { network: 'egress', egressAllow: ['*', '0.0.0.0/1', 'a.com'] },
    ],
  ])('with %j has the network %j', async (more, expected) => {
    expect(await convert(more)).toMatchObject(expected);
  });

  it.each([
    [{ autoPause: true }, { onExpiry: 'pause', resumeSeconds: null }],
    [
      { autoPause: true, autoPauseMemory: false },
      { onExpiry: 'stop', resumeSeconds: null },
    ],
    [
      { autoPause: true, autoResume: { enabled: true }, timeout: 60 },
      { onExpiry: 'pause', resumeSeconds: 60 },
    ],
    [
      { autoPause: false, autoResume: { enabled: false } },
      { onExpiry: 'delete', resumeSeconds: null },
    ],
  ])('with %j ends as %j, and that of a guest is deleted', async (more, expected) => {
    expect(await convert(more)).toMatchObject(expected);
    expect(await convert(more, 'guest')).toMatchObject({ onExpiry: 'delete', resumeSeconds: null });
  });

  it.each([
    { iam: { tokens: { a: {} } } },
    { network: { rules: { 'api.example.com': [{ transform: { headers: { a: 'literal' } } }] } } },
    { unknownField: 1 },
  ])('with %j is refused by name', async (more) => {
    await expect(convert(more)).rejects.toMatchObject({ code: 'E2B_UNSUPPORTED', status: 501 });
  });

  it('has no network where the driver cannot limit it', async () => {
    const made = await convert({ allow_internet_access: false }, 'service_account', undefined, false);
    expect(made).toMatchObject({ network: 'none', egressAllow: null });
  });

  it.each([{ allowOut: ['a b'] }, { allowOut: ['::1'] }, { denyOut: ['a.com'] }, { denyOut: ['1.1.1.1/33'] }])(
    'with the network %j is refused with the name of the field',
    async (network) => {
      await expect(convert({ network })).rejects.toMatchObject({ code: 'INVALID_FIELD', status: 400 });
    },
  );

  it('ignores fields that are empty', async () => {
    await expect(
      convert({ mcp: { a: {} }, iam: {}, volumeMounts: [], network: {}, unknownField: null }),
    ).resolves.toBeDefined();
  });
});
