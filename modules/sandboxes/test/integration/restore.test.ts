import { migrations } from '@svc/migrations';
import { describeDialects, fakeClock } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSandboxMoves } from '../../src/store/sandbox-moves.ts';
import { createSandboxRepository } from '../../src/store/sandbox-repository.ts';
import type { SandboxTables } from '../../src/store/tables.ts';
import { createArchiveNodes, type ArchiveNode, type ArchiveNodes } from '../support/nodes-with-archives.ts';

describeDialects<SandboxTables>('sandboxes of a lost node', migrations, (database) => {
  let nodes: ArchiveNodes;
  let a: ArchiveNode;
  let b: ArchiveNode;

  beforeEach(async () => {
    nodes = await createArchiveNodes(database());
    a = await nodes.start('a');
    b = await nodes.start('b');
  });
  afterEach(() => nodes[Symbol.asyncDispose]());

  const create = async (body: Record<string, unknown> = {}): Promise<string> => {
    const wanted = { image: 'busybox', on_node_lost: 'restore', ...body };
    const created = await a.call('POST', '/api/sandboxes?wait_ms=10000', wanted);
    expect(created.body).toMatchObject({ status: 'running' });
    return String(created.body['id']);
  };
  const take = async (id: string): Promise<string> => {
    await nodes.advance(1_000); // snapshots of one instant have no order
    const { body } = await a.call('POST', `/api/sandboxes/${id}/snapshots`, {});
    const snapshot = String(body['id']);
    await expect
      .poll(async () => (await b.call('GET', `/api/snapshots/${snapshot}`)).body)
      .toMatchObject({ archived_at: expect.any(String) });
    return snapshot;
  };
  const read = async (id: string, node = b) => (await node.call('GET', `/api/sandboxes/${id}`)).body;
  const nodeOf = async (id: string) =>
    (await nodes.kysely.selectFrom('sandbox').select('node').where('id', '=', id).executeTakeFirst())?.node;
  const events = async (id: string) =>
    (await b.call('GET', `/api/sandboxes/${id}/events?format=json`)).body['events'] as {
      type: string;
      details: Record<string, unknown>;
    }[]; // the route's schema
  const loseA = async (): Promise<void> => {
    await nodes.fallSilent('a');
    await nodes.advance(5_000);
  };
  const isRunning = async (id: string, node = b): Promise<boolean> => (await read(id, node))['status'] === 'running';
  const isLost = async (id: string): Promise<boolean> => (await read(id))['error']?.code === 'NODE_LOST';

  it('are restored on another node from their newest snapshot, and say so', async () => {
    const id = await create({ name: 'kept', labels: { team: 'one' } });
    await take(id);
    const newest = await take(id);
    await loseA();
    await nodes.until(async () => (await nodeOf(id)) === 'b' && (await isRunning(id)));
    expect(await read(id)).toMatchObject({ error: null, snapshot_id: newest });
    expect(await read(id)).toMatchObject({ name: 'kept', labels: { team: 'one' }, on_node_lost: 'restore' });
    expect(b.driver.restored.get(id)).toBe(`files of ${newest}`);
    expect(await nodeOf(id)).toBe('b');
    const told = await events(id);
    expect(told.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['created', 'running', 'error', 'restored', 'running']),
    );
    expect(told.filter(({ type }) => type === 'restored').map(({ details }) => details)).toEqual([
      { snapshot_id: newest, snapshot_created_at: expect.any(String), from_node: 'a', node: 'b' },
    ]);
  });

  it('end on the node that was lost when it returns, which leaves the restored one alone', async () => {
    const id = await create();
    await take(id);
    await loseA();
    await nodes.until(async () => (await nodeOf(id)) === 'b' && (await isRunning(id)));
    expect(await a.driver.inspect(id)).toMatchObject({ running: true }); // nothing told it yet
    await nodes.comeBack('a');
    await nodes.until(async () => !a.driver.sandboxes.has(id));
    const left = () => nodes.kysely.selectFrom('sandbox_move').selectAll().execute();
    await nodes.until(async () => (await left()).length === 0);
    await nodes.advance(20_000);
    expect(await read(id, a)).toMatchObject({ status: 'running', error: null });
    expect(await b.driver.inspect(id)).toMatchObject({ running: true });
    expect(await nodeOf(id)).toBe('b');
    // Requests at the first node reach the second.
    expect((await a.call('POST', `/api/sandboxes/${id}/stop`)).body).toMatchObject({ status: 'stopped' });
    expect(await b.driver.inspect(id)).toMatchObject({ running: false });
  });

  it('are not changed by what the lost node still does with its own one', async () => {
    const id = await create();
    await take(id);
    await loseA();
    await nodes.until(async () => (await nodeOf(id)) === 'b' && (await isRunning(id)));
    await a.driver.crash(id); // its supervisor finds out before it learns that the sandbox moved
    await nodes.advance(1_500);
    expect(await read(id)).toMatchObject({ status: 'running', error: null });
    expect((await events(id)).filter(({ type }) => type === 'error')).toHaveLength(1);
  });

  it('are restored once by many nodes', async () => {
    const c = await nodes.start('c');
    const ids = await Promise.all(Array.from({ length: 6 }, () => create()));
    for (const id of ids) await take(id);
    await loseA();
    for (const id of ids) await nodes.until(async () => (await nodeOf(id)) !== 'a' && (await isRunning(id)));
    for (const id of ids) {
      const holders = [b, c].filter(({ driver }) => driver.sandboxes.has(id));
      expect(holders).toHaveLength(1);
      expect((await events(id)).filter(({ type }) => type === 'restored')).toHaveLength(1);
    }
  });

  it('are restored again if that node is lost too', async () => {
    const id = await create();
    const snapshot = await take(id);
    await loseA();
    await nodes.until(async () => (await nodeOf(id)) === 'b' && (await isRunning(id)));
    const c = await nodes.start('c');
    await nodes.fallSilent('a', 'b');
    await nodes.advance(5_000);
    await nodes.until(async () => (await nodeOf(id)) === 'c' && (await isRunning(id, c)));
    expect(c.driver.restored.get(id)).toBe(`files of ${snapshot}`);
  });

  it('wait for their node by default, and without an archived snapshot', async () => {
    const waiting = await create({ on_node_lost: undefined });
    await take(waiting);
    const without = await create();
    await loseA();
    await nodes.advance(20_000);
    for (const id of [waiting, without]) await nodes.until(() => isLost(id));
    expect(await read(waiting)).toMatchObject({ on_node_lost: 'wait' });
    await nodes.comeBack('a');
    for (const id of [waiting, without]) {
      await nodes.until(() => isRunning(id));
      expect(await nodeOf(id)).toBe('a');
    }
  });

  it('are not restored on the machine where their processes still run', async () => {
    const id = await create();
    await take(id);
    b.driver.elsewhere.add(id);
    await loseA();
    await nodes.until(() => isLost(id));
    await nodes.advance(30_000);
    expect(await nodeOf(id)).toBe('a');
    b.driver.elsewhere.clear();
    await nodes.until(async () => (await nodeOf(id)) === 'b' && (await isRunning(id)));
  });

  it('are not restored on a node that is drained', async () => {
    const id = await create();
    await take(id);
    await nodes.kysely
      .updateTable('sandbox_node')
      .set({ drain_requested_at: '2026-01-01T00:00:00.000Z' })
      .where('node', '=', 'b')
      .execute();
    const refusal = async () => (await b.call('POST', '/api/sandboxes?wait_ms=0', { image: 'busybox' })).body['code'];
    await nodes.until(async () => (await refusal()) === 'NODE_DRAINING');
    await loseA();
    await nodes.until(() => isLost(id));
    await nodes.advance(30_000);
    expect(await read(id)).toMatchObject({ status: 'error', error: { code: 'NODE_LOST' } });
  });

  it('stay with their node if it has reported itself before the other one acts', async () => {
    const id = await create();
    const snapshotId = await take(id);
    const { kysely } = nodes;
    const repository = createSandboxRepository(kysely, { clock: fakeClock() });
    const moves = createSandboxMoves(database(), { clock: fakeClock() });
    const fault = { code: 'NODE_LOST', message: 'lost', recoverable: true } as const;
    expect(await moves.markLost(id, 'a', fault, 20_000)).toBeNull();
    await repository.change(id, ['running'], { status: 'error', stateReason: fault.code, fault });
    const sandbox = await repository.find(id);
    if (sandbox === null) throw new Error('the sandbox is there');
    const limits = {
      workspaceUuid: sandbox.workspaceUuid,
      ownerId: null,
      ownerWorkspaces: [],
      workspace: {},
      owner: {},
    };
    const lost = { sandbox, snapshotId, snapshotCreatedAt: '' };
    expect(await moves.move(lost, 'b', limits, 20_000)).toEqual({ sandbox: null });
    expect(await nodeOf(id)).toBe('a');
  });

  it('are refused at creation where they could not be restored', async () => {
    const c = await nodes.start('c', { hasArchives: false });
    const refused = await c.call('POST', '/api/sandboxes', { image: 'busybox', on_node_lost: 'restore' });
    expect(refused).toMatchObject({
      status: 501,
      body: { code: 'RESTORE_UNAVAILABLE', details: { field: 'on_node_lost' } },
    });
  });
});
