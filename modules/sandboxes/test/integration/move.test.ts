import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createNodeAdministration } from '../../src/assembly/node-module.ts';
import type { NodeAdministration } from '../../src/domain/nodes/node-administration.ts';
import { createArchiveNodes, type ArchiveNode, type ArchiveNodes } from '../support/nodes-with-archives.ts';

/** Longer than between two sweeps. */
const SWEEP_MS = 11 * 60_000;

describeDialects<unknown>('sandboxes that move when their node is drained', migrations, (database) => {
  let nodes: ArchiveNodes;
  let administration: NodeAdministration;
  let a: ArchiveNode;
  let b: ArchiveNode;

  beforeEach(async () => {
    nodes = await createArchiveNodes(database());
    administration = createNodeAdministration(database());
    a = await nodes.start('a');
    b = await nodes.start('b');
  });
  afterEach(async () => {
    await administration.undrain('a');
    await nodes[Symbol.asyncDispose]();
  });

  const create = async (body: Record<string, unknown> = {}): Promise<string> => {
    const wanted = { image: 'busybox', on_drain: 'move', ...body };
    const created = await a.call('POST', '/api/sandboxes?wait_ms=10000', wanted);
    expect(created.body).toMatchObject({ status: 'running', on_drain: wanted.on_drain });
    return String(created.body['id']);
  };
  const read = async (id: string) => (await b.call('GET', `/api/sandboxes/${id}`)).body;
  const nodeOf = async (id: string) =>
    (await nodes.kysely.selectFrom('sandbox').select('node').where('id', '=', id).executeTakeFirst())?.node;
  const snapshots = () => nodes.kysely.selectFrom('sandbox_snapshot').selectAll().execute();
  const types = async (id: string): Promise<string[]> => {
    const { events } = (await b.call('GET', `/api/sandboxes/${id}/events?format=json`)).body;
    return events.map(({ type }: { type: string }) => type);
  };
  /** Begins a drain whose notice has passed. */
  const drain = async (): Promise<void> => {
    await administration.drain('a');
    await nodes.kysely
      .updateTable('sandbox_node')
      .set({ drain_requested_at: '2020-01-01T00:00:00.000Z' })
      .where('node', '=', 'a')
      .execute();
  };
  it('continue on another node with their files, and leave nothing behind', async () => {
    const id = await create({ name: 'kept' });
    await drain();
    await nodes.until(async () => (await nodeOf(id)) === 'b' && (await read(id))['status'] === 'running');
    const [snapshot] = await snapshots();
    expect(b.driver.restored.get(id)).toBe(`files of ${String(snapshot?.id)}`);
    expect(await read(id)).toMatchObject({ name: 'kept', error: null, state_reason: null });
    expect(await types(id)).toEqual(expect.arrayContaining(['draining', 'stopped', 'moved', 'running']));
    await nodes.until(async () => !a.driver.sandboxes.has(id));
    expect((await b.call('GET', '/api/snapshots')).body).toMatchObject({ count: 0 }); // not one of the user's
    await nodes.until(async () => (await snapshots()).length === 0 && a.driver.kept.size === 0, SWEEP_MS);
    await nodes.until(async () => (await nodes.stored()).length === 1, SWEEP_MS); // the image, for an hour
    expect((await administration.list()).find(({ node }) => node === 'a')).toMatchObject({ toDrain: 0, total: 0 });
  });

  it('stay with their node until their files are archived', async () => {
    const id = await create();
    a.blobs.beforeSeal = () => Promise.reject(new Error('the engine is away'));
    await drain();
    await nodes.until(async () => typeof (await snapshots())[0]?.archive_error === 'string');
    await nodes.advance(30_000);
    expect(await read(id)).toMatchObject({ status: 'stopped', state_reason: 'NODE_DRAINING' });
    const archiving = createNodeAdministration(database(), { hasArchives: true });
    expect((await archiving.list()).find(({ node }) => node === 'a')).toMatchObject({
      toDrain: 1,
      unarchived: { pending: 0, failed: 1 },
    });
    a.blobs.beforeSeal = async () => undefined;
    await nodes.until(async () => (await nodeOf(id)) === 'b');
  });

  it('continue even if the drained node ends before another one takes them', async () => {
    const id = await create();
    b.driver.setStatus({ available: false, reason: 'no room', install: null });
    await drain();
    await nodes.until(async () => (await read(id))['state_reason'] === 'NODE_MOVING');
    await nodes.fallSilent('a');
    b.driver.setStatus({ available: true, details: {} });
    await nodes.until(async () => (await nodeOf(id)) === 'b' && (await read(id))['status'] === 'running');
  });

  it('stay where they are if their user starts them before another node takes them', async () => {
    const id = await create();
    b.driver.setStatus({ available: false, reason: 'no room', install: null });
    await drain();
    await nodes.until(async () => (await read(id))['state_reason'] === 'NODE_MOVING');
    await administration.undrain('a');
    await nodes.until(async () => (await a.call('POST', `/api/sandboxes/${id}/start?wait_ms=5000`)).status === 200);
    b.driver.setStatus({ available: true, details: {} });
    await nodes.until(async () => (await snapshots()).length === 0, SWEEP_MS); // a later drain takes a new one
    expect(await nodeOf(id)).toBe('a');
    expect(await read(id)).toMatchObject({ status: 'running' });
  });

  it('take a new snapshot in a second drain', async () => {
    const id = await create();
    b.driver.setStatus({ available: false, reason: 'no room', install: null });
    await drain();
    await nodes.until(async () => (await read(id))['state_reason'] === 'NODE_MOVING');
    const [first] = await snapshots();
    await administration.undrain('a');
    await nodes.until(async () => (await a.call('POST', `/api/sandboxes/${id}/start?wait_ms=5000`)).status === 200);
    await drain();
    await nodes.until(async () => (await read(id))['state_reason'] === 'NODE_MOVING');
    const current = (await snapshots()).filter(({ state }) => state === 'move');
    expect(current).toHaveLength(1);
    expect(current[0]?.id).not.toBe(first?.id);
  });

  it('are refused at creation where they could not move', async () => {
    const c = await nodes.start('c', { hasArchives: false });
    const refused = await c.call('POST', '/api/sandboxes', { image: 'busybox', on_drain: 'move' });
    expect(refused).toMatchObject({
      status: 501,
      body: { code: 'RESTORE_UNAVAILABLE', details: { field: 'on_drain' } },
    });
  });
});
