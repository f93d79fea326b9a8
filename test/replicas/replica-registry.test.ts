import { migrations } from '@svc/migrations';
import { createReplicaStore, ReplicaRegistry, type ReplicaClaim, type ReplicaTables } from '@svc/replicas';
import { createLogger } from '@svc/telemetry';
import { describeDialects, fakeClock } from '@svc/testing';
import type { Database } from '@svc/sql';
import { beforeEach, expect, it } from 'vitest';

const FIRST: ReplicaClaim = {
  id: 'a',
  bootId: 'boot-1',
  place: 'machine-1',
  url: null,
  host: 'one',
  version: '1',
  newestMigration: '0130-replica-schema',
};
const COPY: ReplicaClaim = { ...FIRST, bootId: 'boot-2', place: 'machine-2' };

describeDialects<ReplicaTables>('the registry of replicas', migrations, (database) => {
  let taken: string[];
  beforeEach(() => {
    taken = [];
  });

  const store = () => createReplicaStore(database() as Database<unknown>);
  const open = (self: ReplicaClaim) => {
    const clock = fakeClock();
    const log = createLogger({ level: 'silent', name: 'test' });
    const registry = new ReplicaRegistry({
      store: store(),
      self,
      onTaken: (error) => taken.push(error.code),
      log,
      clock,
    });
    return { registry, clock };
  };
  const row = (id = 'a') =>
    database().kysely.selectFrom('replica').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const change = (values: Partial<ReplicaTables['replica']>) =>
    database().kysely.updateTable('replica').set(values).execute();

  it('registers a replica with a lease of ten seconds', async () => {
    const { registry } = open(FIRST);
    await registry.claim();
    const { seen_at: seenAt, expires_at: expiresAt, ...rest } = await row();
    expect(rest).toMatchObject({ boot_id: 'boot-1', place: 'machine-1', url: null, version: '1' });
    expect(Math.round((Date.parse(expiresAt) - Date.parse(seenAt)) / 1000)).toBe(10);
    expect(await registry.find('a')).toMatchObject({ id: 'a', bootId: 'boot-1', host: 'one', isLive: true });
    expect(await registry.find('b')).toBeNull();
    await registry.close();
  });

  it('counts the live replicas with each renewal', async () => {
    const { registry, clock } = open(FIRST);
    await registry.claim();
    expect(registry.liveCount).toBe(1);
    const other = open({ ...FIRST, id: 'b' });
    await other.registry.claim();
    await clock.advance(2_000);
    await expect.poll(() => registry.liveCount).toBe(2);
    await other.registry.close();
    await clock.advance(2_000);
    await expect.poll(() => registry.liveCount).toBe(1);
    await registry.close();
  });

  it('renews every two seconds', async () => {
    const { registry, clock } = open(FIRST);
    await registry.claim();
    await change({ seen_at: '2020-01-01T00:00:00.000Z', expires_at: '2020-01-01T00:00:10.000Z' });
    expect(await registry.find('a')).toMatchObject({ isLive: false });
    await clock.advance(2_000);
    await expect.poll(() => registry.find('a')).toMatchObject({ isLive: true });
    await registry.close();
  });

  it('publishes where it is reached, and writes that again if its row was lost', async () => {
    const { registry, clock } = open(FIRST);
    await registry.claim();
    await registry.advertise('https://10.0.0.5:4300');
    expect(await registry.find('a')).toMatchObject({ url: 'https://10.0.0.5:4300' });
    await database().kysely.deleteFrom('replica').execute();
    await clock.advance(2_000);
    await expect.poll(() => registry.find('a')).toMatchObject({ url: 'https://10.0.0.5:4300' });
    await registry.close();
  });

  it('knows the time of the database, however wrong its own clock is', async () => {
    const { registry, clock } = open(FIRST); // the fake clock is years behind
    expect(Math.abs(clock.nowMs() - Date.now())).toBeGreaterThan(60_000);
    await registry.claim();
    expect(Math.abs(registry.nowMs() - Date.now())).toBeLessThan(60_000);
    await registry.close();
  });

  it('reads the live replicas at most once a second', async () => {
    const { registry, clock } = open(FIRST);
    await registry.claim();
    await store().claim({ ...COPY, id: 'b' });
    expect((await registry.live()).map(({ id }) => id)).toEqual(['a', 'b']);
    await store().release('b', COPY.bootId);
    expect(await registry.live()).toHaveLength(2);
    await clock.advance(1_001);
    expect((await registry.live()).map(({ id }) => id)).toEqual(['a']);
    await registry.close();
  });

  it('refuses a second live process with the same id, and leaves the first one alone', async () => {
    const first = open(FIRST);
    await first.registry.claim();
    const copy = open(COPY);
    const refusal = copy.registry.claim().catch((error: unknown) => error);
    await expect.poll(() => copy.clock.pendingTimers()).toBe(1);
    await first.clock.advance(2_000);
    await expect.poll(async () => (await row()).seen_at !== (await row()).started_at).toBe(true);
    await copy.clock.advance(500);
    expect(await refusal).toMatchObject({
      code: 'REPLICA_ID_IN_USE',
      message: expect.stringContaining('delete its file replica-id'),
    });
    expect(await row()).toMatchObject({ boot_id: 'boot-1' });
    expect(taken).toEqual([]);
    await first.registry.close();
  });

  it('waits for the lease of a process that was killed elsewhere', async () => {
    await store().claim(FIRST);
    const { registry, clock } = open(COPY);
    const claimed = registry.claim();
    await expect.poll(() => clock.pendingTimers()).toBe(1);
    expect(await row()).toMatchObject({ boot_id: 'boot-1' });
    await change({ expires_at: '2020-01-01T00:00:10.000Z' });
    await clock.advance(500);
    await claimed;
    expect(await row()).toMatchObject({ boot_id: 'boot-2' });
    await registry.close();
  });

  it('takes over at once in the same place, where the earlier process no longer holds the lock', async () => {
    await store().claim(FIRST);
    const { registry } = open({ ...FIRST, bootId: 'boot-2' });
    await registry.claim();
    expect(await row()).toMatchObject({ boot_id: 'boot-2' });
    await registry.close();
  });

  it('never takes two unknown places for the same one', async () => {
    await store().claim({ ...FIRST, place: null });
    expect(await store().claim({ ...COPY, place: null })).toMatchObject({ bootId: 'boot-1' });
  });

  it('hands the id over at once when it closes, and keeps the row', async () => {
    const first = open(FIRST);
    await first.registry.claim();
    await first.registry.close();
    expect(await first.registry.list()).toMatchObject([{ id: 'a', isLive: false }]);
    const { registry } = open(COPY);
    await registry.claim();
    await registry.close();
  });

  it('reports once that another process took the id, and neither renews nor releases it any more', async () => {
    const { registry, clock } = open(FIRST);
    await registry.claim();
    await change({ boot_id: 'boot-2', expires_at: '2999-01-01T00:00:00.000Z' });
    await clock.advance(2_000);
    await expect.poll(() => taken).toEqual(['REPLICA_ID_TAKEN']);
    await clock.advance(10_000);
    await registry.close();
    expect(taken).toEqual(['REPLICA_ID_TAKEN']);
    expect(await row()).toMatchObject({ boot_id: 'boot-2', expires_at: '2999-01-01T00:00:00.000Z' });
  });

  it('writes its row again if it is gone, as after a restore of the database', async () => {
    const { registry, clock } = open(FIRST);
    await registry.claim();
    await database().kysely.deleteFrom('replica').execute();
    await clock.advance(2_000);
    await expect.poll(() => registry.find('a')).toMatchObject({ bootId: 'boot-1', isLive: true });
    expect(taken).toEqual([]);
    await registry.close();
  });

  it('gives an id to one of many processes that start at once', async () => {
    const claims = Array.from({ length: 8 }, (_, index) =>
      store().claim({ ...FIRST, bootId: `boot-${index}`, place: `machine-${index}` }),
    );
    const owners = await Promise.all(claims);
    expect(owners.filter((owner) => owner === null)).toHaveLength(1);
  });

  it('forgets replicas that were silent for long, but no live one', async () => {
    await store().claim(FIRST);
    await store().claim({ ...COPY, id: 'b' });
    await change({ seen_at: '2020-01-01T00:00:00.000Z' });
    await database()
      .kysely.updateTable('replica')
      .set({ expires_at: '2020-01-01T00:00:10.000Z' })
      .where('id', '=', 'b')
      .execute();
    await store().prune(60_000);
    expect((await store().list()).map(({ id }) => id)).toEqual(['a']);
  });
});
