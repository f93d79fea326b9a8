import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newDomainState } from '../../src/domain/custom-domains/domain-state.ts';
import type { DomainRecord, RegisterDomain } from '../../src/domain/ports/custom-domains.ts';
import { DUE_MS, LATER_MS, metadataBench, NOW_MS, type OpenMetadata } from '../support/metadata-bench.ts';

const SCHEDULE = { nextCheckAtMs: NOW_MS, claimUntilMs: DUE_MS, servedUntilMs: 0 };
const SERVED = { nextCheckAtMs: LATER_MS, claimUntilMs: null, servedUntilMs: LATER_MS };

/** Contract for custom domains, run against every metadata store. */
export function describeDomains(open: OpenMetadata): void {
  const bench = metadataBench(open);
  const { workspaceUuid } = bench;
  const register = (hostname: string, extra: Partial<RegisterDomain> = {}) =>
    bench.store.registerDomain({
      hostname,
      bucketId: bench.bucket.id,
      nowMs: NOW_MS,
      state: newDomainState(),
      schedule: SCHEDULE,
      maxDomains: 2,
      replaceOthers: false,
      proven: false,
      ...extra,
    });
  const names = async (bucketId: number | null = null) =>
    (await bench.store.listDomains({ workspaceUuid, bucketId, after: '', limit: 10 })).map(({ hostname }) => hostname);
  const serve = async ({ hostname, revision }: DomainRecord) => {
    const state = { ...newDomainState(), status: 'active' as const };
    const saved = await bench.store.saveDomainState({ hostname, revision, state, schedule: SERVED, leaseUntilMs: 0 });
    if (saved === null) throw new Error('the domain went');
    return saved;
  };
  const certify = (hostname: string, chain = 'chain') =>
    bench.store.saveCertificate({
      hostname,
      bucketId: bench.bucket.id,
      chain,
      sealedKey: 'sealed',
      issuer: 'CN=authority',
      notBeforeMs: NOW_MS,
      notAfterMs: LATER_MS,
      issuedAtMs: NOW_MS,
    });

  describe('custom domains', () => {
    it('registers a domain once, lists by name, enforces the limit and removes only within the workspace', async () => {
      const first = await register('b.example.com');
      expect(first).toMatchObject({
        created: true,
        domain: { hostname: 'b.example.com', bucketName: 'first', workspaceUuid, blocked: false, certificate: null },
      });
      expect(await register('b.example.com')).toMatchObject({ created: false, domain: first.domain });
      await register('a.example.com');
      expect(await names(bench.bucket.id)).toEqual(['a.example.com', 'b.example.com']);
      await expect(register('c.example.com')).rejects.toMatchObject({ code: 'TooManyDomains', details: { limit: 2 } });
      const foreign = { hostname: 'a.example.com', workspaceUuid: randomUUID() };
      expect(await bench.store.removeDomain(foreign)).toBe(false);
      expect(await bench.store.removeDomain({ ...foreign, workspaceUuid })).toBe(true);
      expect(await bench.store.removeDomain({ ...foreign, workspaceUuid })).toBe(false);
      expect(await names()).toEqual(['b.example.com']);
    });

    it('replaces the domains of a bucket in one step', async () => {
      await register('a.example.com');
      await certify('a.example.com');
      await register('b.example.com', { replaceOthers: true });
      expect(await names()).toEqual(['b.example.com']);
      expect(await register('a.example.com')).toMatchObject({ created: true, domain: { certificate: null } });
    });

    it('reassigns an unverified name on proof of ownership, but never a verified one', async () => {
      await register('a.example.com');
      const other = await bench.createBucket('others', randomUUID());
      const given = await register('a.example.com', { bucketId: other.id, proven: true });
      expect(given).toMatchObject({ created: true, domain: { bucketName: 'others' } });
      const { hostname, revision, state } = given.domain;
      const verified = { ...state, verifiedAtMs: NOW_MS };
      const saving = { hostname, revision, state: verified, schedule: SERVED, leaseUntilMs: 0 };
      await bench.store.saveDomainState(saving);
      await expect(register('a.example.com', { proven: true })).rejects.toMatchObject({ code: 'DomainTaken' });
    });

    it('reserves a name while its claim is valid, and releases it when the claim expires', async () => {
      await register('a.example.com');
      const other = await bench.createBucket('others', randomUUID());
      const sibling = await bench.createBucket('second', workspaceUuid);
      const taken = register('a.example.com', { bucketId: other.id });
      await expect(taken).rejects.toMatchObject({ code: 'DomainTaken', details: { resource: 'a.example.com' } });
      await expect(taken).rejects.not.toHaveProperty('details.bucket');
      await expect(register('a.example.com', { bucketId: sibling.id })).rejects.toMatchObject({
        code: 'DomainTaken',
        details: { bucket: 'first' },
      });
      const displaced = await register('a.example.com', { bucketId: other.id, nowMs: DUE_MS });
      expect(displaced).toMatchObject({ created: true, domain: { bucketName: 'others' } });
      expect(await names()).toEqual([]);

      const verified = await register('v.example.com');
      await serve(verified.domain);
      const later = register('v.example.com', { bucketId: other.id, nowMs: LATER_MS * 2 });
      await expect(later).rejects.toMatchObject({ code: 'DomainTaken' });
    });

    it('hands due work to one replica at a time, until its lease expires', async () => {
      const { domain } = await register('a.example.com');
      const claim = (nowMs: number) =>
        bench.store.claimDueDomains({ nowMs, leaseUntilMs: nowMs + 100, limit: 10 }).then((found) => found.length);
      expect(await claim(NOW_MS - 1)).toBe(0);
      const both = await Promise.all([claim(NOW_MS), claim(NOW_MS)]);
      expect(both.toSorted()).toEqual([0, 1]);
      expect(await claim(NOW_MS + 99)).toBe(0);
      expect(await claim(NOW_MS + 100)).toBe(1);
      await serve(domain); // releases the lease and sets a later due time
      expect(await claim(LATER_MS - 1)).toBe(0);
      expect(await claim(LATER_MS)).toBe(1);
    });

    it('claims one domain for a check unless it is claimed or was just checked', async () => {
      const { domain } = await register('a.example.com');
      const take = (nowMs: number, checkedBeforeMs: number) =>
        bench.store.claimDomain({ hostname: 'a.example.com', nowMs, leaseUntilMs: nowMs + 100, checkedBeforeMs });
      expect(await take(NOW_MS, 0)).toMatchObject({ hostname: 'a.example.com' });
      expect(await take(NOW_MS, 0)).toBeNull();
      const state = { ...newDomainState(), lastCheckedAtMs: NOW_MS };
      await bench.store.saveDomainState({ ...domain, state, schedule: SCHEDULE, leaseUntilMs: 0 });
      expect(await take(NOW_MS, NOW_MS - 1)).toBeNull();
      expect(await take(NOW_MS, NOW_MS)).not.toBeNull();
    });

    it('never overwrites a newer state, and saves none for a removed domain', async () => {
      const { domain } = await register('a.example.com');
      const saved = await serve(domain);
      expect(saved).toMatchObject({ revision: domain.revision + 1, state: { status: 'active' } });
      const stale = { ...domain, state: newDomainState(), schedule: SCHEDULE, leaseUntilMs: 0 };
      expect(await bench.store.saveDomainState(stale)).toBeNull();
      await bench.store.removeDomain({ hostname: 'a.example.com', workspaceUuid });
      expect(await bench.store.saveDomainState({ ...stale, revision: saved.revision })).toBeNull();
      expect(await certify('a.example.com')).toBe(false);
    });

    it('serves a domain and its certificate only until servedUntilMs', async () => {
      const at = (nowMs: number) => ({ hostname: 'a.example.com', nowMs });
      const { domain } = await register('a.example.com');
      expect(await bench.store.findServedBucket(at(NOW_MS))).toBeNull();
      await serve(domain);
      expect(await bench.store.findServedBucket(at(NOW_MS))).toMatchObject({ name: 'first' });
      expect(await bench.store.findCertificate(at(NOW_MS))).toBeNull();
      await certify('a.example.com', 'old');
      await certify('a.example.com', 'new');
      expect(await bench.store.findCertificate(at(NOW_MS))).toMatchObject({ chain: 'new', issuer: 'CN=authority' });
      expect(await bench.store.findServedBucket(at(LATER_MS))).toBeNull();
      expect(await bench.store.findCertificate(at(LATER_MS))).toBeNull();
    });

    it('hides the domains of a soft-deleted bucket, restores them with it, and purges them with it', async () => {
      await serve((await register('a.example.com')).domain);
      await certify('a.example.com');
      const soft = { bucketId: bench.bucket.id, nowMs: NOW_MS, purgeAtMs: DUE_MS };
      const at = { hostname: 'a.example.com', nowMs: NOW_MS };
      await bench.store.softDeleteBucket(soft);
      expect(await bench.store.findServedBucket(at)).toBeNull();
      expect(await bench.store.findCertificate(at)).toBeNull();
      expect(await bench.store.findDomain(at)).toBeNull();
      expect(await names()).toEqual([]);
      expect(await bench.store.claimDueDomains({ nowMs: LATER_MS, leaseUntilMs: LATER_MS, limit: 10 })).toEqual([]);
      const other = await bench.createBucket('others', randomUUID());
      const taken = register('a.example.com', { bucketId: other.id });
      await expect(taken).rejects.toMatchObject({ code: 'DomainTaken' });

      await bench.store.restoreBucket({ name: 'first', workspaceUuid, nowMs: NOW_MS });
      expect(await bench.store.findServedBucket(at)).not.toBeNull();
      expect(await bench.store.findDomain(at)).toMatchObject({ certificate: { issuer: 'CN=authority' } });

      await bench.store.softDeleteBucket(soft);
      const purge = { bucketId: bench.bucket.id, nowMs: LATER_MS, limit: 10, trashDueAtMs: DUE_MS };
      expect(await bench.store.purgeBucket(purge)).toBe(true);
      expect(await register('a.example.com', { bucketId: other.id })).toMatchObject({ created: true });
    });

    it('blocks a name for every workspace, and serves it again when unblocked', async () => {
      const { domain } = await register('a.example.com');
      await serve(domain);
      await certify('a.example.com');
      const block = (blocked: boolean, hostname = 'a.example.com') =>
        bench.store.setDomainBlocked({ hostname, blocked, nowMs: NOW_MS });
      const at = { hostname: 'a.example.com', nowMs: NOW_MS };
      await block(true);
      await block(true);
      await block(true, 'unknown.example.com');
      expect(await bench.store.findDomain(at)).toMatchObject({ blocked: true });
      expect(await bench.store.findServedBucket(at)).toBeNull();
      expect(await bench.store.findCertificate(at)).toBeNull();
      await bench.store.removeDomain({ hostname: 'a.example.com', workspaceUuid });
      expect((await register('a.example.com')).domain.blocked).toBe(true);
      expect(await bench.store.claimDueDomains({ nowMs: LATER_MS, leaseUntilMs: LATER_MS, limit: 10 })).toEqual([]);
      await block(false);
      expect(await bench.store.findDomain(at)).toMatchObject({ blocked: false });
      const due = await bench.store.claimDueDomains({ nowMs: NOW_MS, leaseUntilMs: LATER_MS, limit: 10 });
      expect(due.map(({ hostname }) => hostname)).toEqual(['a.example.com']);
    });
  });

  describe('ACME records', () => {
    it('keeps the first account of an ACME directory', async () => {
      const directoryUrl = 'https://authority.example/directory';
      expect(await bench.store.findAcmeAccount({ directoryUrl })).toBeNull();
      const first = { directoryUrl, sealedKey: 'first' };
      expect(await bench.store.saveAcmeAccount(first)).toEqual(first);
      expect(await bench.store.saveAcmeAccount({ directoryUrl, sealedKey: 'second' })).toEqual(first);
      expect(await bench.store.findAcmeAccount({ directoryUrl })).toEqual(first);
    });

    it('answers a challenge until it expires or is removed', async () => {
      const put = (token: string) =>
        bench.store.putAcmeChallenge({ token, keyAuthorization: `${token}.key`, nowMs: NOW_MS, expiresAtMs: DUE_MS });
      await put('one');
      await put('one');
      await put('two');
      expect(await bench.store.findAcmeChallenge({ token: 'one', nowMs: NOW_MS })).toBe('one.key');
      expect(await bench.store.findAcmeChallenge({ token: 'one', nowMs: DUE_MS })).toBeNull();
      await bench.store.removeAcmeChallenge({ token: 'one' });
      expect(await bench.store.findAcmeChallenge({ token: 'one', nowMs: NOW_MS })).toBeNull();
      expect(await bench.store.findAcmeChallenge({ token: 'two', nowMs: NOW_MS })).toBe('two.key');
    });
  });
}
