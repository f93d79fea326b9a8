import { migrations } from '@svc/migrations';
import { unlimitedQuotas, type QuotaLimits } from '@svc/quotas';
import { describeDialects } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withLostAnswers } from '../support/lost-answers.ts';
import { createArchiveNodes, type ArchiveNode, type ArchiveNodes } from '../support/nodes-with-archives.ts';

const MIB = 1024 * 1024;
/** Longer than between two sweeps. */
const SWEEP_MS = 11 * 60_000;
const BLOB = /^[0-9a-f]{32}$/;

describeDialects<unknown>('snapshots that every node can use', migrations, (database) => {
  let nodes: ArchiveNodes;
  let a: ArchiveNode;
  let b: ArchiveNode;
  let diskLimit: number | null;
  let isLost: () => Promise<boolean>;

  beforeEach(async () => {
    isLost = async () => false;
    diskLimit = null;
    const quotaLimits: QuotaLimits = {
      ...unlimitedQuotas,
      readLimits: async (uuid) => ({
        ...(await unlimitedQuotas.readLimits(uuid)),
        workspace: diskLimit === null ? {} : { sandbox_disk: diskLimit },
      }),
    };
    nodes = await createArchiveNodes(
      withLostAnswers(database(), () => isLost()),
      quotaLimits,
    );
    a = await nodes.start('a');
    b = await nodes.start('b');
  });
  afterEach(() => nodes[Symbol.asyncDispose]());

  const create = async (node: ArchiveNode, body: Record<string, unknown> = { image: 'busybox' }): Promise<string> => {
    const created = await node.call('POST', '/api/sandboxes?wait_ms=10000', body);
    expect(created.body).toMatchObject({ status: 'running', error: null });
    return String(created.body['id']);
  };
  const take = async (node: ArchiveNode, id: string): Promise<string> => {
    const taken = await node.call('POST', `/api/sandboxes/${id}/snapshots`, {});
    expect(taken).toMatchObject({ status: 201, body: { archived_at: null } });
    return String(taken.body['id']);
  };
  const read = async (snapshot: string) => (await b.call('GET', `/api/snapshots/${snapshot}`)).body;
  const archived = async (snapshot: string): Promise<void> => {
    await nodes.until(async () => typeof (await read(snapshot))['archived_at'] === 'string');
    expect(await read(snapshot)).toMatchObject({ archive_error: null });
  };
  /** One row for each blob, and no other. */
  const assertNoOrphans = async (): Promise<void> => {
    const rows = await nodes.kysely.selectFrom('sandbox_archive').select('id').orderBy('id').execute();
    expect(await nodes.stored()).toEqual(rows.map(({ id }) => id));
  };
  const archivesOf = async (snapshot: string) =>
    nodes.kysely.selectFrom('sandbox_archive').selectAll().where('snapshot_id', '=', snapshot).execute();

  it('are archived in the background, and make sandboxes on another node, which need no image of their own', async () => {
    const snapshot = await take(a, await create(a));
    await archived(snapshot);
    b.driver.images.clear();
    const id = await create(b, { snapshot_id: snapshot });
    expect(b.driver.restored.get(id)).toBe(`files of ${snapshot}`);
    expect([...b.driver.images]).toEqual(['busybox']);
    expect(await nodes.stored()).toEqual([expect.stringMatching(BLOB), expect.stringMatching(BLOB)]);
    await assertNoOrphans();
    // On its own node, the files themselves are used.
    await create(a, { snapshot_id: snapshot });
    expect(a.driver.restored.size).toBe(0);
  });

  it('share the archive of their image', async () => {
    const id = await create(a);
    for (const snapshot of [await take(a, id), await take(a, id)]) await archived(snapshot);
    expect(await nodes.stored()).toHaveLength(3);
  });

  it('are refused until they are archived by a node that cannot forward, with what to do', async () => {
    const alone = await nodes.start('alone', { isAlone: true });
    a.blobs.beforeSeal = async () => {
      throw new Error('the engine is away');
    };
    const snapshot = await take(a, await create(a));
    const refused = await alone.call('POST', '/api/sandboxes', { snapshot_id: snapshot });
    expect(refused).toMatchObject({ status: 409, body: { code: 'SNAPSHOT_ELSEWHERE' } });
    expect(refused.body['error']).toContain('it is not archived yet');
    await expect.poll(async () => (await read(snapshot))['archive_error']).toBe('The archive could not be written');
    expect(await nodes.stored()).toEqual([]);
    a.blobs.beforeSeal = async () => undefined;
    await archived(snapshot);
    await assertNoOrphans();
  });

  it('are refused by nodes without archives that cannot forward', async () => {
    const c = await nodes.start('c', { hasArchives: false, isAlone: true });
    const snapshot = await take(a, await create(a));
    await archived(snapshot);
    const refused = await c.call('POST', '/api/sandboxes', { snapshot_id: snapshot });
    expect(refused).toMatchObject({ status: 409, body: { code: 'SNAPSHOT_ELSEWHERE', details: { node: 'a' } } });
  });

  describe('when they are deleted', () => {
    it('lose their archive at once, at any node, and that of their image an hour later', async () => {
      const snapshot = await take(a, await create(a));
      await archived(snapshot);
      expect((await b.call('DELETE', `/api/snapshots/${snapshot}`)).status).toBe(200);
      await expect.poll(() => archivesOf(snapshot)).toEqual([]);
      expect(await nodes.stored()).toHaveLength(1);
      await assertNoOrphans();
      await nodes.kysely.updateTable('sandbox_archive').set({ used_at: '2020-01-01T00:00:00.000Z' }).execute();
      await nodes.until(async () => (await nodes.stored()).length === 0, SWEEP_MS);
      await expect.poll(() => nodes.kysely.selectFrom('sandbox_archive').selectAll().execute()).toEqual([]);
    });

    it('keep the archive of an image that another snapshot needs', async () => {
      const id = await create(a);
      const [gone, kept] = [await take(a, id), await take(a, id)];
      for (const each of [gone, kept]) await archived(each);
      await a.call('DELETE', `/api/snapshots/${gone}`);
      await nodes.kysely.updateTable('sandbox_archive').set({ used_at: '2020-01-01T00:00:00.000Z' }).execute();
      await nodes.until(async () => (await archivesOf(gone)).length === 0, SWEEP_MS);
      expect(await nodes.stored()).toHaveLength(2);
      b.driver.images.clear();
      await create(b, { snapshot_id: kept });
    });

    it('leave nothing behind while they are being archived', async () => {
      let isWriting = false;
      let go = (): void => undefined;
      const gone = new Promise<void>((resolve) => (go = resolve));
      const snapshot = await (async () => {
        const id = await create(a);
        a.driver.beforeArchive = async () => {
          isWriting = true;
          await gone;
        };
        return take(a, id);
      })();
      await expect.poll(() => isWriting).toBe(true);
      expect((await b.call('DELETE', `/api/snapshots/${snapshot}`)).status).toBe(200);
      go();
      await expect.poll(() => archivesOf(snapshot)).toEqual([]);
      await assertNoOrphans();
    });

    it('keep their archive while a sandbox of another node waits for it', async () => {
      const snapshot = await take(a, await create(a));
      await archived(snapshot);
      let go = (): void => undefined;
      const waiting = new Promise<void>((resolve) => (go = resolve));
      b.driver.beforeCreate = () => waiting;
      const { body } = await b.call('POST', '/api/sandboxes?wait_ms=0', { snapshot_id: snapshot });
      await a.call('DELETE', `/api/snapshots/${snapshot}`);
      await nodes.advance(20_000);
      expect(await archivesOf(snapshot)).toHaveLength(1);
      go();
      await expect
        .poll(async () => (await b.call('GET', `/api/sandboxes/${body['id']}`)).body['status'])
        .toBe('running');
      await nodes.until(async () => (await archivesOf(snapshot)).length === 0, SWEEP_MS);
    });

    it('are removed from the storage later if it fails now', async () => {
      const snapshot = await take(a, await create(a));
      await archived(snapshot);
      for (const { blobs } of [a, b]) blobs.beforeRemove = () => Promise.reject(new Error('the engine is away'));
      await a.call('DELETE', `/api/snapshots/${snapshot}`);
      await expect.poll(async () => (await archivesOf(snapshot))[0]?.state).toBe('removed');
      for (const { blobs } of [a, b]) blobs.beforeRemove = async () => undefined;
      await nodes.until(async () => (await archivesOf(snapshot)).length === 0, SWEEP_MS);
      await assertNoOrphans();
    });
  });

  it('are written again after a crash of their node, which leaves nothing behind', async () => {
    const snapshot = await take(a, await create(a));
    await archived(snapshot);
    // As if the process had ended before the last step: its bytes are there, its row says that it is being written.
    await nodes.kysely
      .updateTable('sandbox_archive')
      .set({ state: 'writing' })
      .where('snapshot_id', '=', snapshot)
      .execute();
    await nodes.kysely.updateTable('sandbox_snapshot').set({ archived_at: null }).execute();
    const [before] = await archivesOf(snapshot);
    await archived(snapshot);
    const [after, ...others] = await archivesOf(snapshot);
    expect(others).toEqual([]);
    expect(after?.id).not.toBe(before?.id);
    await assertNoOrphans();
  });

  it('are kept if they are complete, although the database could not say so', async () => {
    let losses = 0;
    isLost = async () => {
      const ready = nodes.kysely.selectFrom('sandbox_archive').select('id').where('state', '=', 'ready');
      const isComplete = (await ready.where('snapshot_id', 'is not', null).execute()).length > 0;
      return losses === 0 && isComplete && (losses += 1) > 0;
    };
    const snapshot = await take(a, await create(a));
    await archived(snapshot);
    expect(losses).toBe(1);
    await nodes.advance(60_000); // another attempt would be due
    expect(await archivesOf(snapshot)).toMatchObject([{ state: 'ready' }]);
    await assertNoOrphans();
    const id = await create(b, { snapshot_id: snapshot });
    expect(b.driver.restored.get(id)).toBe(`files of ${snapshot}`);
  });

  it('do not count if others gave them up while their node was paused', async () => {
    let go = (): void => undefined;
    const paused = new Promise<void>((resolve) => (go = resolve));
    a.blobs.beforeSeal = () => paused;
    const snapshot = await take(a, await create(a));
    await expect.poll(() => nodes.stored()).toEqual([expect.stringContaining('.part')]);
    await nodes.fallSilent('a');
    const states = () => nodes.kysely.selectFrom('sandbox_archive').select('state').execute();
    await nodes.until(async () => (await states())[0]?.state === 'abandoned', SWEEP_MS);
    await nodes.comeBack('a');
    a.blobs.beforeSeal = async () => undefined;
    go();
    await archived(snapshot);
    await assertNoOrphans();
  });

  it('count towards the disk quota with their archive, and are not archived beyond it', async () => {
    const id = await create(a, { image: 'busybox', resources: { disk_mb: 64 } });
    a.driver.takenBytes = 3 * MIB;
    const counted = async () => (await b.platform.module.quotaUsage([nodes.owner.workspaceUuid]))['sandbox_disk'];
    diskLimit = 64 + 64; // while it is taken, a snapshot counts like its sandbox
    const first = await take(a, id);
    await archived(first);
    expect(await counted()).toBe(64 + 3); // the archive is smaller than 1 MiB
    await nodes.kysely
      .updateTable('sandbox_snapshot')
      .set({ archive_bytes: 3 * MIB })
      .execute();
    expect(await counted()).toBe(64 + 6);

    a.blobs.beforeSeal = () => Promise.reject(new Error('the engine is away'));
    diskLimit = 64 + 6 + 64;
    const second = await take(a, id);
    await expect.poll(async () => (await read(second))['archive_error']).not.toBeNull();
    a.blobs.beforeSeal = async () => undefined;
    diskLimit = 64 + 6 + 3 + 2;
    await nodes.until(async () => String((await read(second))['archive_error']).includes('quota'));
    expect(await counted()).toBe(64 + 6 + 3);
    diskLimit += 1;
    await archived(second);
  });

  it('cannot be read, created from or deleted by others', async () => {
    const snapshot = await take(a, await create(a));
    await archived(snapshot);
    const caller = b.platform.access.user('stranger@example.org');
    for (const [method, path, body] of [
      ['GET', `/api/snapshots/${snapshot}`, undefined],
      ['DELETE', `/api/snapshots/${snapshot}`, undefined],
      ['POST', '/api/sandboxes', { snapshot_id: snapshot }],
    ] as const) {
      const answer = await b.platform.call(method, path, { caller, ...(body === undefined ? {} : { body }) });
      expect(answer).toMatchObject({ status: 404, body: { code: 'SNAPSHOT_NOT_FOUND' } });
    }
  });
});
