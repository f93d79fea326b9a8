import { randomBytes, createSecretKey } from 'node:crypto';
import { fakeClock, type FakeClock } from '@svc/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import type { StoreAction } from './ports/maker-rights.ts';
import type { AccessKeyRecord } from './ports/records.ts';
import { SecretBox } from './secrets/secret-box.ts';
import { callerOf } from './caller.ts';
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
      now: clock.nowMs,
    });
  });

  const actions = async (): Promise<readonly string[]> =>
    [...((await cache.find('tid_one'))?.actions ?? [])].toSorted();

  it('gives what both the key and its maker may do', async () => {
    expect(await actions()).toEqual(['bucket:list', 'bucket:update', 'object:read', 'object:write']);
  });

  it('sees within a second what the maker lost, and suspends a key that is left with nothing', async () => {
    await cache.find('tid_one');
    allowed = ['bucket:list', 'object:read'];
    await clock.advance(1_000);
    expect(await actions()).toEqual(['bucket:list', 'object:read']);
    allowed = [];
    await clock.advance(1_000);
    expect(await cache.find('tid_one')).toBeNull();
  });

  it('asks once for requests that come together', async () => {
    await Promise.all(Array.from({ length: 50 }, () => cache.find('tid_one')));
    expect(questions).toBe(1);
  });

  it('serves what it knew for a second when accounts cannot be asked, then refuses with 503', async () => {
    await cache.find('tid_one');
    isReachable = false;
    await clock.advance(900);
    expect(await actions()).toContain('object:write');
    await clock.advance(100);
    await expect(cache.find('tid_one')).rejects.toMatchObject({ code: 'ServiceUnavailable', status: 503 });
    isReachable = true;
    expect(await actions()).toContain('object:write');
  });

  it('never serves a key that it did not know before', async () => {
    isReachable = false;
    await expect(cache.find('tid_one')).rejects.toMatchObject({ status: 503 });
  });

  it('does not keep what was read before a revocation', async () => {
    const before = cache.find('tid_one');
    cache.forget('tid_one');
    await before;
    const { accessKeyId } = key;
    await cache.find(accessKeyId);
    expect(questions).toBe(2);
  });

  it('tells a running request that its key lost the right', async () => {
    const credential = await cache.find('tid_one');
    if (credential === null) throw new Error('the key is unknown');
    const caller = callerOf(credential);
    await cache.assertStillValid(caller, 'object:write', 'photos');
    allowed = ['bucket:list', 'object:read'];
    await clock.advance(1_000);
    await cache.assertStillValid(caller, 'object:read', 'photos');
    await expect(cache.assertStillValid(caller, 'object:write', 'photos')).rejects.toMatchObject({
      code: 'AccessDenied',
    });
    allowed = [];
    await clock.advance(1_000);
    await expect(cache.assertStillValid(caller, 'object:read', 'photos')).rejects.toMatchObject({
      code: 'InvalidAccessKeyId',
    });
  });
});
