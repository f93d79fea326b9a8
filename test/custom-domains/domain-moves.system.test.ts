import { describeRequiring } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startDomainBench, type DomainBench } from './domain-bench.ts';
import { startNameServer, type NameServer } from './name-server.ts';
import { getFrom } from './site-client.ts';

const HOST = 'files.customer.test';
const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

describeRequiring(['linux', 'command:dnsmasq'], 'a custom domain across DNS changes', () => {
  let names: NameServer;
  let bench: DomainBench;
  let target: string;

  beforeEach(async () => {
    names = await startNameServer();
    await names.serve({});
    bench = await startDomainBench({ nameServer: names.address });
    await bench.call('POST', '/buckets', { name: 'photos' });
    const { data } = await bench.call('POST', '/domains', { hostname: HOST, bucket: 'photos' });
    target = String(data['cname_target']);
  });
  afterEach(async () => {
    await bench.close();
    await names.stop();
  });

  /** Serves the correct CNAME. */
  const pointAtTarget = () => names.serve({ cnames: { [HOST]: target }, addresses: { [target]: '127.0.0.1' } });
  /** Returns the domain after the next check, whenever that is due. */
  const after = async (waitMs: number): Promise<Record<string, unknown>> => {
    await bench.clock.advance(waitMs);
    await bench.work();
    return await shown();
  };
  /** Returns the domain without a new check, since it was just checked. */
  const shown = async (): Promise<Record<string, unknown>> => {
    const { data } = await bench.call('GET', '/buckets/photos/custom-domain');
    return (data['domains'] as Record<string, unknown>[])[0] ?? {}; // checked by the matchers
  };
  const plain = () => getFrom({ port: bench.ports.http, host: HOST, path: '/', tls: null });

  it('waits for the CNAME, then serves, and needs no certificate when none are configured', async () => {
    expect(await after(0)).toMatchObject({ status: 'pending', dns: { status: 'missing', observed: [] }, error: null });
    expect((await plain()).status).toBe(421);
    await pointAtTarget();
    const active = await after(15 * SECOND_MS);
    expect(active).toMatchObject({
      status: 'active',
      dns: { status: 'ok', observed: [target] },
      ssl: { status: 'deactivated' },
      verified_at: bench.clock.now().toISOString(),
      last_checked_at: bench.clock.now().toISOString(),
    });
    expect((await plain()).status).toBe(403); // the bucket is private, but it is the right bucket
  });

  it('follows CNAME chains', async () => {
    const alias = 'alias.customer.test';
    await names.serve({ cnames: { [HOST]: alias, [alias]: target }, addresses: { [target]: '127.0.0.1' } });
    expect(await after(0)).toMatchObject({ status: 'active', dns: { status: 'ok', observed: [alias, target] } });
  });

  it('reports the record found in place of the target', async () => {
    await names.serve({ addresses: { [HOST]: '192.0.2.1' } });
    expect(await after(0)).toMatchObject({
      status: 'pending',
      dns: { status: 'mismatch', observed: ['192.0.2.1'] },
      error: { code: 'cname_mismatch' },
    });
    const elsewhere = 'elsewhere.test';
    await names.serve({ cnames: { [HOST]: elsewhere }, addresses: { [elsewhere]: '192.0.2.1' } });
    expect(await after(HOUR_MS)).toMatchObject({ dns: { status: 'mismatch', observed: [elsewhere] } });
    await names.serve({ addresses: { [HOST]: '198.51.100.7' } });
    expect(await after(HOUR_MS)).toMatchObject({
      status: 'error',
      dns: { status: 'proxied', observed: ['198.51.100.7'] },
      error: { code: 'proxied' },
    });
    await pointAtTarget();
    expect(await after(HOUR_MS)).toMatchObject({ status: 'active', error: null });
  });

  it('accepts neither the target’s address nor the target of another bucket as proof', async () => {
    await names.serve({ addresses: { [HOST]: '127.0.0.1', [target]: '127.0.0.1' } });
    expect(await after(0)).toMatchObject({ status: 'pending', dns: { status: 'mismatch' } });
    await bench.call('POST', '/buckets', { name: 'other-bucket' });
    const other = String((await bench.call('GET', '/buckets/other-bucket/custom-domain')).data['cname_target']);
    await names.serve({ cnames: { [HOST]: other }, addresses: { [other]: '127.0.0.1' } });
    expect(await after(HOUR_MS)).toMatchObject({ status: 'pending', dns: { status: 'mismatch', observed: [other] } });
    expect((await plain()).status).toBe(421);
  });

  it('belongs to the bucket that its CNAME points to, not to the first claimant', async () => {
    const stranger = bench.stranger();
    await bench.call('POST', '/buckets', { name: 'theirs' }, stranger);
    const { data } = await bench.call('GET', '/buckets/theirs/custom-domain', undefined, stranger);
    const theirs = String(data['cname_target']);
    const claim = () => bench.call('POST', '/domains', { hostname: HOST, bucket: 'theirs' }, stranger);
    expect(await claim()).toMatchObject({ status: 409, data: { code: 'DomainTaken' } });
    await names.serve({ cnames: { [HOST]: theirs }, addresses: { [theirs]: '127.0.0.1' } });
    expect(await claim()).toMatchObject({ status: 201, data: { bucket: 'theirs' } });
    await bench.work();
    await pointAtTarget(); // too late: a verified domain stays with its owner until it has been broken for long
    const back = await bench.call('POST', '/domains', { hostname: HOST, bucket: 'photos' });
    expect(back).toMatchObject({ status: 409, data: { code: 'DomainTaken' } });
  });

  it('stays active while the name servers do not respond', async () => {
    await pointAtTarget();
    expect(await after(0)).toMatchObject({ status: 'active' });
    await names.fallSilent();
    expect(await after(HOUR_MS)).toMatchObject({ status: 'active', dns: { status: 'ok' }, error: null });
    expect((await plain()).status).toBe(403);
  });

  it('enters the error state when the CNAME disappears, serves for another 72 hours, and recovers by itself', async () => {
    await pointAtTarget();
    await after(0);
    await names.serve({});
    const lost = { status: 'error', dns: { status: 'missing' }, error: { code: 'cname_lost' } };
    expect(await after(HOUR_MS)).toMatchObject(lost);
    await bench.clock.advance(71 * HOUR_MS);
    expect((await plain()).status).toBe(403);
    await bench.clock.advance(HOUR_MS);
    expect((await plain()).status).toBe(421);
    await pointAtTarget();
    expect(await after(HOUR_MS)).toMatchObject({ status: 'active', dns: { status: 'ok' }, error: null });
    expect((await plain()).status).toBe(403);
  });

  it('gives up after seven days, and checks again on request', async () => {
    await after(0);
    expect(await after(7 * DAY_MS)).toMatchObject({ status: 'error', error: { code: 'verification_timeout' } });
    const { last_checked_at: lastCheck } = await shown();
    expect(await after(DAY_MS)).toMatchObject({ last_checked_at: lastCheck });
    await pointAtTarget();
    expect((await bench.call('GET', `/domains/${HOST}/status`)).data).toMatchObject({ status: 'active', error: null });
  });

  it('checks immediately on request, at most once in ten seconds', async () => {
    const status = async () => (await bench.call('GET', `/domains/${HOST}/status`)).data;
    const startedAt = bench.clock.now().toISOString();
    expect(await status()).toMatchObject({ status: 'pending', last_checked_at: startedAt });
    await pointAtTarget();
    await bench.clock.advance(9_999);
    expect(await status()).toMatchObject({ status: 'pending', last_checked_at: startedAt });
    await bench.clock.advance(1);
    expect(await status()).toMatchObject({ status: 'active', last_checked_at: bench.clock.now().toISOString() });
  });

  it('checks every 15 seconds at first and eventually every hour', async () => {
    const checks: number[] = [];
    for (let elapsedMs = 0; elapsedMs <= 4 * HOUR_MS; elapsedMs += 15 * SECOND_MS) {
      const due = await bench.metadata.claimDueDomains({
        nowMs: bench.clock.nowMs(),
        leaseUntilMs: bench.clock.nowMs(), // only a check, so the lease ends immediately
        limit: 1,
      });
      if (due.length > 0) {
        checks.push(elapsedMs / SECOND_MS);
        await bench.work();
      }
      await bench.clock.advance(15 * SECOND_MS);
    }
    const gaps = checks.slice(1).map((at, index) => at - (checks[index] ?? 0));
    expect(gaps.slice(0, 8)).toEqual([15, 30, 60, 120, 240, 480, 960, 1_920]);
    expect(gaps.slice(8).every((gap) => gap === 3_600)).toBe(true);
  });

  it('cannot be claimed by others while verified, and stops with its bucket or on the operator’s order', async () => {
    await pointAtTarget();
    await after(0);
    await bench.clock.advance(30 * DAY_MS);
    const stranger = bench.stranger();
    await bench.call('POST', '/buckets', { name: 'theirs' }, stranger);
    const takeover = await bench.call('POST', '/domains', { hostname: HOST, bucket: 'theirs' }, stranger);
    expect(takeover).toMatchObject({ status: 409, data: { code: 'DomainTaken' } });

    await bench.call('DELETE', '/buckets/photos');
    expect((await plain()).status).toBe(421);
    await bench.call('POST', '/buckets/photos/restore');
    await bench.clock.advance(SECOND_MS);
    expect((await plain()).status).toBe(403);

    const block = (blocked: boolean) =>
      bench.metadata.setDomainBlocked({ hostname: HOST, blocked, nowMs: bench.clock.nowMs() });
    await block(true);
    await bench.clock.advance(SECOND_MS);
    expect((await plain()).status).toBe(421);
    expect(await after(HOUR_MS)).toMatchObject({ status: 'blocked' });
    await block(false);
    expect(await after(SECOND_MS)).toMatchObject({ status: 'active' });

    await bench.call('DELETE', `/domains/${HOST}`);
    expect((await plain()).status).toBe(421);
  });
});
