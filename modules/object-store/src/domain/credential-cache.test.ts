import { randomBytes, createSecretKey } from 'node:crypto';
import { fakeClock, type FakeClock } from '@svc/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { StoreAction } from './ports/maker-rights.ts';
import type { AccessKeyRecord } from './ports/records.ts';
import { SecretBox } from './secrets/secret-box.ts';
import { createCaller } from './caller.ts';
import { CredentialCache } from './credential-cache.ts';

const secrets = new SecretBox(createSecretKey(randomBytes(32)), randomBytes);
const key: AccessKeyRecord = {
  accessKeyId: 'tid_one',
  workspaceUuid: 'workspace',
  label: 'label',
  permissions: ['read', 'write', 'admin'],
  buckets: null,
  sealedSecret: secrets.seal('secret', 'tid_one'),
  createdAtMs: 0,
  createdBy: { principalId: 'maker', tokenId: null, kind: 'user', name: 'maker' },
  expiresAtMs: null,
  lastUsedAtMs: null,
};

describe('CredentialCache', () => {
  let clock: FakeClock;
  let allowed: readonly StoreAction[];
  let isReachable: boolean;
  let questions: number;
  let cache: CredentialCache;

  beforeEach(() => {
    clock = fakeClock();
    allowed = ['bucket:list', 'object:read', 'object:write', 'bucket:update'];
    isReachable = true;
    questions = 0;
    cache = new CredentialCache({
      metadata: { findAccessKey: async ({ accessKeyId }) => (accessKeyId === key.accessKeyId ? key : null) },
      rights: {
        allowedActions: async () => {
          questions += 1;
          if (!isReachable) throw new Error('accounts cannot be asked');
          return new Set(allowed);
        },
      },
      secrets: { open: async (sealed, context) => secrets.open(sealed, context) },
      clock,
    });
  });

  const actions = async (): Promise<readonly string[]> =>
    [...((await cache.find('tid_one'))?.actions ?? [])].toSorted();

  it('returns the actions that both the key and its creator are allowed', async () => {
    expect(await actions()).toEqual(['bucket:list', 'bucket:update', 'object:read', 'object:write']);
  });

  it('notices lost rights within a second, and suspends a key without any rights left', async () => {
    await cache.find('tid_one');
    allowed = ['bucket:list', 'object:read'];
    await clock.advance(1_000);
    expect(await actions()).toEqual(['bucket:list', 'object:read']);
    allowed = [];
    await clock.advance(1_000);
    expect(await cache.find('tid_one')).toBeNull();
  });

  it('shares one query among concurrent requests', async () => {
    await Promise.all(Array.from({ length: 50 }, () => cache.find('tid_one')));
    expect(questions).toBe(1);
  });

  it('serves cached rights for a second while accounts are unavailable, then refuses with 503', async () => {
    await cache.find('tid_one');
    isReachable = false;
    await clock.advance(900);
    expect(await actions()).toContain('object:write');
    await clock.advance(100);
    await expect(cache.find('tid_one')).rejects.toMatchObject({ code: 'ServiceUnavailable', status: 503 });
    isReachable = true;
    expect(await actions()).toContain('object:write');
  });

  it('refuses keys that are not cached while accounts are unavailable', async () => {
    isReachable = false;
    await expect(cache.find('tid_one')).rejects.toMatchObject({ status: 503 });
  });

  it('does not cache what was read before a revocation', async () => {
    const before = cache.find('tid_one');
    cache.forget('tid_one');
    await before;
    const { accessKeyId } = key;
    await cache.find(accessKeyId);
    expect(questions).toBe(2);
  });

  it('rejects a running request whose key has lost the right', async () => {
    const credential = await cache.find('tid_one');
    if (credential === null) throw new Error('the key is unknown');
    const caller = createCaller(credential);
    await cache.assertStillValid(caller, 'object:write', 'photos');
    allowed = ['bucket:list', 'object:read'];
    await cache.assertStillValid(caller, 'object:read', 'photos');
    await expect(cache.assertStillValid(caller, 'object:write', 'photos')).rejects.toMatchObject({
      code: 'AccessDenied',
    });
    allowed = [];
    await expect(cache.assertStillValid(caller, 'object:read', 'photos')).rejects.toMatchObject({
      code: 'InvalidAccessKeyId',
    });
  });
});
