import { unlimitedQuotas } from '@svc/quotas';
import type { DiskSpace } from '@svc/runtime';
import { waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const MiB = 1024 * 1024;
const IMAGE = { image: 'debian' };

describe('workspaces on one machine', () => {
  const room = { isThere: true, bytes: Number.POSITIVE_INFINITY };
  /** Owners of workspaces; a missing workspace has an owner of its own. */
  const sharing = new Map<string, string>();
  const hasRoom = async (sizeBytes: number): Promise<boolean> => room.isThere && sizeBytes <= room.bytes;
  const disk: DiskSpace = { hasRoom, take: hasRoom };
  let driver: FakeDriver;
  let platform: TestPlatform;
  beforeEach(async () => {
    Object.assign(room, { isThere: true, bytes: Number.POSITIVE_INFINITY });
    driver = new FakeDriver();
    sharing.clear();
    const quotaLimits = { ...unlimitedQuotas, shareOf: (workspace: string) => sharing.get(workspace) ?? workspace };
    platform = await startPlatform({ driver, disk, config: { max_per_caller: 200 }, quotaLimits: () => quotaLimits });
  });
  afterEach(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  const create = (caller = platform.owner, wait = '0') =>
    platform.call('POST', `/api/containers?wait_ms=${wait}`, { caller, body: IMAGE });

  it('start sandboxes while all starts of another workspace are blocked', async () => {
    const other = platform.access.user('other@example.org');
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const slow = new Set<string>();
    driver.beforeCreate = async ({ id }) => {
      if (slow.size < 40 && !isFast) {
        slow.add(id);
        await gate;
      }
    };
    let isFast = false;
    for (let count = 0; count < 40; count += 1) expect((await create()).status).toBe(202);
    await waitFor(() => slow.size > 0, { description: 'starts that stand still' });
    const standing = slow.size;
    isFast = true;
    const { status, body } = await create(other, '20000');
    expect([status, body['status']]).toEqual([201, 'running']);
    expect(slow.size).toBe(standing); // none of the others started meanwhile
    open();
  });

  it('of one owner leave a slot for other owners, however many they are', async () => {
    const mine = ['a', 'b', 'c'].map((name) => platform.access.user(`${name}@example.org`));
    for (const { workspaceUuid } of mine) sharing.set(workspaceUuid, 'one owner');
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const standing: string[] = [];
    let isFast = false;
    driver.beforeCreate = async ({ id }) => {
      if (isFast) return;
      standing.push(id);
      await gate;
    };
    for (const caller of [...mine, ...mine]) expect((await create(caller)).status).toBe(202);
    await waitFor(() => standing.length === 3, { description: 'starts that stand still' });
    isFast = true;
    expect((await create(platform.owner, '20000')).body['status']).toBe('running');
    expect(standing).toHaveLength(3);
    open();
  });

  it("start sandboxes while another workspace's image is still downloading", async () => {
    const other = platform.access.user('other@example.org');
    const { promise: download, resolve: arrive } = Promise.withResolvers<void>();
    Object.assign(driver, {
      prepareImage: (image: string) => (image === 'busybox' ? download : Promise.resolve()),
    });
    for (let count = 0; count < 40; count += 1) {
      const body = { image: 'busybox' };
      expect((await platform.call('POST', '/api/containers?wait_ms=0', { body })).status).toBe(202);
    }
    expect((await create(other, '20000')).body['status']).toBe('running');
    arrive();
  });

  it('restart a sandbox with an existing disk when its image is no longer available', async () => {
    const id = String((await create(platform.owner, '20000')).body['id']);
    await platform.call('POST', `/api/containers/${id}/stop`);
    Object.assign(driver, { prepareImage: () => Promise.reject(new Error('the registry does not answer')) });
    const { status, body } = await platform.call('POST', `/api/containers/${id}/start?wait_ms=20000`);
    expect([status, body['status']]).toEqual([200, 'running']);
  });

  it('copy files while copies of another workspace are blocked', async () => {
    const other = platform.access.user('other@example.org');
    const [mine, theirs] = [(await create(platform.owner, '20000')).body, (await create(other, '20000')).body];
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    driver.beforeSnapshot = async (id) => {
      if (id === mine['id']) await gate;
    };
    const snapshot = (id: string, caller = platform.owner) =>
      platform.call('POST', `/api/containers/${id}/snapshots`, { caller, body: {} });
    const waiting = Array.from({ length: 3 }, () => snapshot(mine['id']));
    await waitFor(() => driver.kept.size > 0, { description: 'a copy that stands still' });
    expect((await snapshot(theirs['id'], other)).status).toBe(201);
    open();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([201, 201, 201]);
  });

  it('cannot create, start or copy sandboxes when only the disk reserve is left', async () => {
    const { body } = await create(platform.owner, '20000');
    const id = String(body['id']);
    const stopped = (await create(platform.owner, '20000')).body;
    await platform.call('POST', `/api/containers/${stopped['id']}/stop`);
    room.isThere = false;
    const refused = await create();
    expect(refused.status).toBe(507);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(refused.body).toMatchObject({ code: 'HOST_DISK_FULL' });
    expect((await platform.call('POST', `/api/containers/${stopped['id']}/start`)).status).toBe(507);
    expect((await platform.call('POST', `/api/containers/${id}/snapshots`, { body: {} })).status).toBe(507);
    const file = `/api/containers/${id}/files`;
    expect((await platform.call('POST', file, { body: { path: '/a', content: '' } })).status).toBe(507);
    expect((await platform.call('PUT', `${file}/archive?path=/a`, { body: {} })).status).toBe(507);
    // Requests that need no space still work, and so do those that free some.
    expect((await platform.call('GET', `/api/containers/${id}`)).body['status']).toBe('running');
    expect((await platform.call('DELETE', `/api/containers/${id}`)).status).toBe(200);
    room.isThere = true;
    expect((await create(platform.owner, '20000')).body['status']).toBe('running');
  });

  it('may copy what fits on the disk and nothing larger, whether running or not', async () => {
    const id = String((await create(platform.owner, '20000')).body['id']);
    await platform.call('POST', `/api/containers/${id}/stop`);
    room.bytes = 100 * MiB; // less than the disk may grow to
    driver.copyBytes = 90 * MiB;
    const taken = await platform.call('POST', `/api/containers/${id}/snapshots`, { body: {} });
    expect(taken.status).toBe(201);
    const copy = { body: { snapshot_id: taken.body['id'] } };
    expect((await platform.call('POST', '/api/containers?wait_ms=20000', copy)).status).toBe(201);
    driver.copyBytes = 101 * MiB;
    const refused = [
      await platform.call('POST', `/api/containers/${id}/snapshots`, { body: {} }),
      await platform.call('POST', '/api/containers', copy),
    ];
    expect(refused.map(({ status, body }) => [status, body['code']])).toEqual([
      [507, 'HOST_DISK_FULL'],
      [507, 'HOST_DISK_FULL'],
    ]);
  });

  it('have growing sandboxes paused when only the disk reserve is left, until they are used', async () => {
    const id = String((await create(platform.owner, '20000')).body['id']);
    const state = async (): Promise<boolean> => {
      const { body } = await platform.call('GET', `/api/containers/${id}`);
      return body['paused'] === true || typeof body['paused_at'] === 'string';
    };
    let diskBytes = 0;
    vi.spyOn(driver, 'stats').mockImplementation(async () => {
      diskBytes += 300 * 1024; // too slow for a difference between two checks
      return { ...driver.reading, diskBytes };
    });
    room.isThere = false;
    await waitFor(state, { timeoutMs: 20_000, description: 'a pause' });
    room.isThere = true;
    expect((await platform.call('POST', `/api/containers/${id}/resume`)).status).toBe(200);
    expect(await state()).toBe(false);
  });
});
