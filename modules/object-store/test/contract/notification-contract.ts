import { describe, expect, it } from 'vitest';
import type { NotifyRule } from '../../src/domain/ports/notifications.ts';
import { DUE_MS, LATER_MS, metadataBench, NOW_MS, type OpenMetadata } from '../support/metadata-bench.ts';

const ORIGIN = { principal: 'tid_x', requestId: 'request', sourceAddress: '127.0.0.1' };
const ALL: NotifyRule = {
  origin: ORIGIN,
  rules: [{ destination: 'hook', patterns: ['s3:ObjectCreated:*', 's3:ObjectRemoved:*'] }],
};

/** Contract for the notification outbox, run against every metadata store. */
export function describeNotifications(open: OpenMetadata): void {
  const bench = metadataBench(open);
  const hook = (destination = 'hook') => ({ bucketId: bench.bucket.id, destination });
  const due = async (nowMs = NOW_MS, limit = 100, destination = 'hook') =>
    await bench.store.dueNotifications({ ...hook(destination), nowMs, limit });
  const told = async (nowMs = NOW_MS) => (await due(nowMs)).map(({ key, event }) => `${event.name} ${key}`);
  const putTold = (key: string) => bench.put(key, undefined, { notify: ALL });

  describe('notifications', () => {
    it('are written with their change, in order, and not when it fails', async () => {
      await putTold('a');
      await bench.remove('a', { notify: ALL });
      await putTold('b');
      const refused = bench.put('b', undefined, { notify: ALL, conditions: { ifNoneMatch: ['*'] } });
      await expect(refused).rejects.toMatchObject({ status: 412 });
      expect(await told()).toEqual(['ObjectCreated:Put a', 'ObjectRemoved:Delete a', 'ObjectCreated:Put b']);
      const [first] = await due();
      expect(first).toMatchObject({ attempts: 0, event: { origin: ORIGIN, versionId: null, timeMs: NOW_MS } });
    });

    it('name the version in a versioned bucket, and the delete marker that covers it', async () => {
      await bench.store.setVersioning({ bucketId: bench.bucket.id, versioning: 'enabled' });
      const { versionId } = await putTold('a');
      const marker = await bench.remove('a', { notify: ALL });
      await bench.remove('a', { notify: ALL, versionId });
      expect((await due()).map(({ event }) => [event.name, event.versionId])).toEqual([
        ['ObjectCreated:Put', versionId],
        ['ObjectRemoved:DeleteMarkerCreated', marker.versionId],
        ['ObjectRemoved:Delete', versionId],
      ]);
    });

    it('go to each destination with a matching rule', async () => {
      const rules = [
        { destination: 'created', patterns: ['s3:ObjectCreated:*'] },
        { destination: 'removed', patterns: ['s3:ObjectRemoved:Delete'] },
      ];
      await bench.put('a', undefined, { notify: { rules, origin: ORIGIN } });
      await bench.remove('a', { notify: { rules, origin: ORIGIN } });
      const ids = await bench.store.waitingDestinations({ after: null, limit: 10 });
      const { workspaceUuid } = bench.bucket;
      const removals = { ...hook('removed'), workspaceUuid };
      expect(ids).toEqual([{ ...hook('created'), workspaceUuid }, removals]);
      expect(await bench.store.waitingDestinations({ after: hook('created'), limit: 10 })).toEqual([removals]);
      expect(await due(NOW_MS, 10, 'created')).toHaveLength(1);
      const [removed] = await due(NOW_MS, 10, 'removed');
      expect(removed?.event.name).toBe('ObjectRemoved:Delete');
    });

    it('wait behind a postponed notification of the same key; other keys go ahead', async () => {
      await putTold('a');
      await putTold('a');
      const [first] = await due();
      await bench.store.postponeNotification({ id: first?.id ?? 0, nextAttemptAtMs: DUE_MS, error: 'HTTP 500' });
      await putTold('a');
      await putTold('b');
      expect(await told()).toEqual(['ObjectCreated:Put b']);
      const later = await due(DUE_MS);
      expect(later.map(({ key, attempts }) => `${key} ${attempts}`)).toEqual(['a 1', 'a 0', 'a 0', 'b 0']);
      const state = await bench.store.deliveryState({ bucketId: bench.bucket.id, countLimit: 3 });
      expect(state).toEqual({
        waiting: 3,
        failed: 0,
        lastError: 'HTTP 500',
        oldestWaitingAtMs: NOW_MS,
        nextAttemptAtMs: DUE_MS,
      });
    });

    it('never reuse an ID, even after all of them are delivered', async () => {
      await putTold('a');
      const [first] = await due();
      await bench.store.forgetNotifications({ ids: [first?.id ?? 0] });
      await putTold('a');
      const [second] = await due();
      expect(second?.id).toBeGreaterThan(first?.id ?? 0);
    });

    it('fail when too old, stay visible, unblock the next one, and can be retried', async () => {
      const { id: bucketId } = bench.bucket;
      await putTold('a');
      const [first] = await due();
      await bench.store.postponeNotification({ id: first?.id ?? 0, nextAttemptAtMs: LATER_MS, error: 'HTTP 500' });
      await bench.put('a', undefined, { notify: ALL, nowMs: DUE_MS });
      const giveUp = { ...hook(), createdBeforeMs: DUE_MS, nowMs: DUE_MS, error: 'too old', limit: 10 };
      expect(await bench.store.abandonNotifications(giveUp)).toBe(1);
      expect((await due(DUE_MS)).map(({ createdAtMs }) => createdAtMs)).toEqual([DUE_MS]);
      const [failed] = await bench.store.failedNotifications({ bucketId, limit: 10 });
      expect(failed).toMatchObject({ key: 'a', attempts: 1, failedAtMs: DUE_MS, lastError: 'HTTP 500' });
      expect(await bench.store.retryNotifications({ bucketId: bucketId + 1, nowMs: LATER_MS, limit: 10 })).toBe(0);
      expect(await bench.store.retryNotifications({ bucketId, nowMs: LATER_MS, limit: 10 })).toBe(1);
      expect(await bench.store.failedNotifications({ bucketId, limit: 10 })).toEqual([]);
      expect(await due(LATER_MS)).toHaveLength(2);
      await bench.store.abandonNotifications({ ...giveUp, createdBeforeMs: LATER_MS + 1, nowMs: LATER_MS });
      expect(await bench.store.forgetFailedNotifications({ failedBeforeMs: LATER_MS, limit: 10 })).toBe(0);
      expect(await bench.store.forgetFailedNotifications({ failedBeforeMs: LATER_MS + 1, limit: 10 })).toBe(2);
    });

    it('are removed with their destination or their bucket', async () => {
      await putTold('a');
      await putTold('b');
      expect(await bench.store.forgetDestination({ ...hook(), limit: 1 })).toBe(1);
      expect(await bench.store.forgetDestination({ ...hook(), limit: 5 })).toBe(1);
      await putTold('a');
      await bench.remove('a');
      await bench.remove('b');
      await bench.store.deleteBucket({ bucketId: bench.bucket.id, nowMs: NOW_MS, trashDueAtMs: DUE_MS });
      expect(await due()).toEqual([]);
    });

    it('are delivered by one lease holder at a time', async () => {
      const take = (holder: string, nowMs: number) =>
        bench.store.takeLease({ name: 'work', holder, nowMs, untilMs: nowMs + 100 });
      expect(await take('one', 1_000)).toBe(true);
      expect(await take('two', 1_050)).toBe(false);
      expect(await take('one', 1_050)).toBe(true);
      expect(await take('two', 1_149)).toBe(false);
      expect(await take('two', 1_150)).toBe(true);
      await bench.store.releaseLease({ name: 'work', holder: 'one' });
      expect(await take('one', 1_160)).toBe(false);
      await bench.store.releaseLease({ name: 'work', holder: 'two' });
      expect(await take('one', 1_160)).toBe(true);
    });
  });
}
