import { migrations } from '@svc/migrations';
import { describeDialects, waitFor } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createNodeAdministration } from '../../src/assembly/node-module.ts';
import { createArchiveNodes, type ArchiveNode, type ArchiveNodes } from '../support/nodes-with-archives.ts';
import type { Answer } from '../support/platform.ts';

/** Longer than between two sweeps. */
const SWEEP_MS = 11 * 60_000;
const HOUR_MS = 3_600_000;
const LONG_AGO = '2020-01-01T00:00:00.000Z';

describeDialects<unknown>('templates that every node can use', migrations, (database) => {
  let nodes: ArchiveNodes;
  let administration: ReturnType<typeof createNodeAdministration>;
  let a: ArchiveNode;
  let b: ArchiveNode;
  let sweeps = 0;

  beforeEach(async () => {
    nodes = await createArchiveNodes(database());
    administration = createNodeAdministration(database(), { hasArchives: true });
    a = await nodes.start('a');
    b = await nodes.start('b');
  });
  afterEach(() => nodes[Symbol.asyncDispose]());

  const build = async (
    node: ArchiveNode,
    name: string,
    body: Record<string, unknown> = { from: 'busybox' },
    expected = 'ready',
  ): Promise<Answer['body']> => {
    const started = await node.call('POST', `/api/templates/${name}/builds`, body);
    expect(started).toMatchObject({ status: 202, body: { archived_at: null, archive_error: null } });
    const path = `/api/templates/${started.body['name']}/builds/${started.body['id']}`;
    const made = await waitFor(async () => {
      const { body: now } = await node.call('GET', path);
      return now['status'] !== 'building' && now;
    });
    expect(made).toMatchObject({ status: expected });
    return made;
  };
  const read = async (name: string, id: string): Promise<Answer['body']> =>
    (await b.call('GET', `/api/templates/${name}/builds/${id}`)).body;
  const archived = async (name: string, id: string): Promise<void> => {
    await nodes.until(async () => typeof (await read(name, id))['archived_at'] === 'string');
    expect(await read(name, id)).toMatchObject({ archive_error: null, node: 'a' });
  };
  const create = async (node: ArchiveNode, template: string): Promise<string> => {
    const created = await node.call('POST', '/api/sandboxes?wait_ms=10000', { template });
    expect(created.body).toMatchObject({ status: 'running', error: null });
    return String(created.body['id']);
  };
  const rows = () => nodes.kysely.selectFrom('sandbox_archive').selectAll().orderBy('id').execute();
  /** One row for each blob, and no other. */
  const assertNoOrphans = async (): Promise<void> => {
    expect(await nodes.stored()).toEqual((await rows()).map(({ id }) => id));
  };
  /** Lets the time without use pass, and then a sweep, with which each node begins. */
  const letPass = async (): Promise<void> => {
    await nodes.kysely.updateTable('sandbox_archive').set({ used_at: LONG_AGO }).execute();
    const removed = { id: 'f'.repeat(32), snapshot_id: null, base: 'gone', state: 'removed', used_at: LONG_AGO };
    const marker = { ...removed, format: 'fake', node: 'a', size_bytes: 0, wrapper: '', box: '', ready_at: null };
    await nodes.kysely.insertInto('sandbox_archive').values(marker).execute();
    sweeps += 1;
    await nodes.start(`sweeper-${sweeps}`);
    await expect.poll(async () => (await rows()).filter(({ id }) => id === marker.id)).toEqual([]);
  };

  it('are archived in the background, and make sandboxes on another node, which fetches their image once', async () => {
    const made = await build(a, 'tools:v1', { from: 'busybox', steps: [{ env: { A: 'b' } }] });
    await archived('tools', made['id']);
    expect(await nodes.stored()).toHaveLength(1);
    await assertNoOrphans();
    const sandboxes = [await create(b, 'tools:v1'), await create(b, made['id'])];
    expect(b.driver.added).toHaveLength(1);
    for (const id of sandboxes) await b.call('DELETE', `/api/sandboxes/${id}`);
    await create(b, 'tools:v1');
    expect(b.driver.added).toHaveLength(1);
    await create(a, 'tools:v1');
    expect(a.driver.added).toEqual([]);
    const [listed] = (await b.call('GET', '/api/templates')).body['templates'];
    expect(listed['builds']).toMatchObject([{ id: made['id'], archived_at: expect.any(String) }]);
  });

  it('fetch the image once for sandboxes that need it at the same moment', async () => {
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    const created = await Promise.all(Array.from({ length: 5 }, () => create(b, 'tools')));
    expect(created).toHaveLength(5);
    expect(b.driver.added).toHaveLength(1);
  });

  it('outlive the node that built them, and images that a node lost', async () => {
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    a.driver.loseImages();
    await create(a, 'tools');
    await nodes.fallSilent('a');
    await a.platform.close();
    await letPass();
    await create(b, 'tools');
    await assertNoOrphans();
  });

  it('are a base for builds on another node', async () => {
    const made = await build(a, 'base', { from: 'busybox', steps: [{ env: { A: 'b' } }] });
    await archived('base', made['id']);
    const derived = await build(b, 'derived', { from: 'base', steps: [{ env: { C: 'd' } }] });
    await create(b, 'derived');
    await nodes.until(async () => typeof (await read('derived', derived['id']))['archived_at'] === 'string');
    await create(a, 'derived');
    expect(await nodes.stored()).toHaveLength(2);
  });

  it('are refused until they are archived by a node that cannot forward, with what to do, and say why not', async () => {
    const alone = await nodes.start('alone', { isAlone: true });
    a.blobs.beforeSeal = () => Promise.reject(new Error('the engine is away'));
    const made = await build(a, 'tools');
    const refused = await alone.call('POST', '/api/sandboxes', { template: 'tools' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'TEMPLATE_ELSEWHERE', details: { node: 'a' } } });
    expect(refused.body['error']).toContain('it is not archived yet');
    await create(b, 'tools'); // on a
    const failed = await build(b, 'derived', { from: 'tools' }, 'error');
    expect(failed['error'].message).toContain('is on node a and not archived yet');
    const unarchived = async () => (await administration.list()).map(({ node, unarchived: of }) => [node, of]);
    await nodes.until(async () => (await read('tools', made['id']))['archive_error'] !== null);
    const none = { pending: 0, failed: 0 };
    expect(await unarchived()).toEqual([
      ['a', { pending: 0, failed: 1 }],
      ['alone', none],
      ['b', none],
    ]);
    expect(await read('tools', made['id'])).toMatchObject({
      archived_at: null,
      archive_error: 'The archive could not be written',
    });
    expect(await nodes.stored()).toEqual([]);
    a.blobs.beforeSeal = async () => undefined;
    await archived('tools', made['id']);
    expect((await unarchived()).map(([, of]) => of)).toEqual([none, none, none]);
    await create(alone, 'tools');
    await assertNoOrphans();
  });

  it('are refused by nodes without archives that cannot forward, and by their build while it has no tag', async () => {
    const c = await nodes.start('c', { hasArchives: false, isAlone: true });
    const d = await nodes.start('d', { isAlone: true });
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    const refused = await c.call('POST', '/api/sandboxes', { template: 'tools' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'TEMPLATE_ELSEWHERE', details: { node: 'a' } } });
    expect(refused.body['error']).toContain('send the request to node a');
    const failed = await build(c, 'derived', { from: 'tools' }, 'error');
    expect(failed['error'].message).toContain('build it on this one, too');

    await a.call('DELETE', '/api/templates/tools/tags/latest');
    await letPass();
    const untagged = await d.call('POST', '/api/sandboxes', { template: made['id'] });
    expect(untagged).toMatchObject({ status: 409, body: { code: 'TEMPLATE_ELSEWHERE' } });
    expect(untagged.body['error']).toContain('only builds with a tag are archived');
    const tagged = await b.call('PUT', '/api/templates/tools/tags/again', { target: made['id'] });
    expect(tagged.status).toBe(200);
    await archived('tools', made['id']);
    await create(d, 'tools:again');
  });

  it('are cancelled at every node, and otherwise the refusal names theirs', async () => {
    const alone = await nodes.start('alone', { isAlone: true });
    const made = await build(a, 'tools');
    const cancel = `/api/templates/tools/builds/${made['id']}/cancel`;
    expect(await b.call('POST', cancel)).toMatchObject({ status: 200, body: { status: 'ready' } });
    const refused = await alone.call('POST', cancel);
    expect(refused).toMatchObject({ status: 409, body: { code: 'TEMPLATE_ELSEWHERE' } });
    expect(refused.body['error']).toContain('send the request to node a');
  });

  it('keep their archive as long as any tag refers to the image, and lose it an hour after', async () => {
    const made = await build(a, 'tools:v1');
    await archived('tools', made['id']);
    await a.call('PUT', '/api/templates/tools/tags/v2', { target: 'v1' });
    await b.call('DELETE', '/api/templates/tools/tags/v1');
    await letPass();
    expect(await nodes.stored()).toHaveLength(1);
    const again = await build(a, 'tools:v2'); // the same image
    await b.call('DELETE', `/api/templates/tools/tags/latest`);
    await archived('tools', again['id']);
    await letPass();
    expect(await nodes.stored()).toHaveLength(1);
    expect((await b.call('DELETE', '/api/templates/tools')).status).toBe(200);
    const { used_at: usedAt } = (await rows())[0]!;
    expect(Date.now() - Date.parse(usedAt)).toBeLessThan(HOUR_MS);
    await letPass();
    expect(await nodes.stored()).toEqual([]);
    expect(await rows()).toEqual([]);
  });

  it('keep their archive for snapshots of their sandboxes', async () => {
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    const sandbox = await create(a, 'tools');
    a.driver.image = (
      await nodes.kysely.selectFrom('template_build').select('digest').executeTakeFirstOrThrow()
    ).digest!;
    const taken = await a.call('POST', `/api/sandboxes/${sandbox}/snapshots`, {});
    const path = `/api/snapshots/${taken.body['id']}`;
    await nodes.until(async () => typeof (await b.call('GET', path)).body['archived_at'] === 'string');
    expect(await nodes.stored()).toHaveLength(2);
    await b.call('DELETE', '/api/templates/tools');
    await letPass();
    expect(await nodes.stored()).toHaveLength(2);
    await b.call('DELETE', path);
    await letPass();
    expect(await nodes.stored()).toEqual([]);
  });

  it('keep their archive while a sandbox of another node waits for it', async () => {
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    let go = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (go = resolve));
    b.driver.beforeImageCopy = () => waiting;
    const { body } = await b.call('POST', '/api/sandboxes?wait_ms=0', { template: 'tools' });
    await a.call('DELETE', '/api/templates/tools');
    await letPass();
    expect(await nodes.stored()).toHaveLength(1);
    go();
    await expect.poll(async () => (await b.call('GET', `/api/sandboxes/${body['id']}`)).body['status']).toBe('running');
    // The start releases the archive shortly after the sandbox runs.
    await nodes.until(async () => {
      await letPass();
      return (await nodes.stored()).length === 0;
    });
  });

  it('leave nothing behind when they are deleted while they are being archived', async () => {
    let go = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (go = resolve));
    a.driver.beforeImageCopy = () => waiting;
    await build(a, 'tools');
    await expect.poll(async () => (await rows()).map(({ state }) => state)).toEqual(['writing']);
    expect((await b.call('DELETE', '/api/templates/tools')).status).toBe(200);
    go();
    await expect.poll(async () => (await rows()).map(({ state }) => state)).toEqual(['ready']);
    await letPass();
    expect(await nodes.stored()).toEqual([]);
    expect(await rows()).toEqual([]);
  });

  it('are written again after a crash of their node, which leaves nothing behind', async () => {
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    const [before] = await rows();
    // As if the process had ended before the last step: its bytes are there, its row says that it is being written.
    await nodes.kysely.updateTable('sandbox_archive').set({ state: 'writing', ready_at: null }).execute();
    expect(await read('tools', made['id'])).toMatchObject({ archived_at: null });
    await archived('tools', made['id']);
    // What the ended process left is removed by a check, before or after the next archive is ready.
    await nodes.until(async () => (await rows()).length === 1, SWEEP_MS);
    expect((await rows())[0]?.id).not.toBe(before?.id);
    await assertNoOrphans();
  });

  it('are archived again if a replica of an earlier version removed the archive', async () => {
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    await nodes.kysely.updateTable('sandbox_archive').set({ state: 'removed' }).execute();
    await nodes.until(async () => (await rows())[0]?.state === 'ready', SWEEP_MS);
    await archived('tools', made['id']);
    await assertNoOrphans();
  });

  it('do not count if others gave them up while their node was paused', async () => {
    let go = (): void => undefined;
    const paused = new Promise<void>((resolve) => (go = resolve));
    a.blobs.beforeSeal = () => paused;
    const made = await build(a, 'tools');
    await expect.poll(() => nodes.stored()).toEqual([expect.stringContaining('.part')]);
    await nodes.fallSilent('a');
    await nodes.until(async () => (await rows())[0]?.state === 'abandoned', SWEEP_MS);
    await nodes.comeBack('a');
    a.blobs.beforeSeal = async () => undefined;
    go();
    await archived('tools', made['id']);
    await assertNoOrphans();
  });

  it('leave no layer behind on a node that could not fetch the image, which the next start does', async () => {
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    b.driver.beforeImageCopy = () => Promise.reject(new Error('the engine is away'));
    const failed = await b.call('POST', '/api/sandboxes?wait_ms=10000', { template: 'tools' });
    expect(failed.body).toMatchObject({ status: 'error', error: { recoverable: true } });
    expect(await b.driver.builds.list()).toEqual([]);
    b.driver.beforeImageCopy = async () => undefined;
    const started = await b.call('POST', `/api/sandboxes/${failed.body['id']}/start?wait_ms=10000`);
    expect(started.body).toMatchObject({ status: 'running' });
  });

  it('are fetched by a start that a stop of the platform interrupts, after its next start', async () => {
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    let go = (): void => undefined;
    let isFetching = false;
    const waiting = new Promise<void>((resolve) => (go = resolve));
    b.driver.beforeImageCopy = () => {
      isFetching = true;
      return waiting.then(() => Promise.reject(new Error('interrupted')));
    };
    const { body } = await b.call('POST', '/api/sandboxes?wait_ms=0', { template: 'tools' });
    await expect.poll(() => isFetching).toBe(true);
    const closed = b.platform.close();
    go();
    await closed;
    const path = `/api/sandboxes/${body['id']}`;
    const find = nodes.kysely.selectFrom('sandbox').select(['status', 'error_code']).where('id', '=', body['id']);
    expect(await find.executeTakeFirst()).toEqual({ status: 'creating', error_code: null });
    const again = await nodes.start('b');
    await expect.poll(async () => (await again.call('GET', path)).body['status']).toBe('running');
    expect(again.driver.added).toHaveLength(1);
    expect(await again.driver.builds.list()).toHaveLength(1);
  });

  it('are fetched again after a crash in the middle, without another layer', async () => {
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    await create(b, 'tools');
    b.driver.loseImages(); // as if the process had ended before the image was complete
    await create(b, 'tools');
    expect(b.driver.added).toHaveLength(2);
    expect(await b.driver.builds.list()).toHaveLength(1);
  });

  it('have no builds under way on a lost node, and no layers there that nothing needs', async () => {
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    const builds = nodes.kysely.updateTable('template_build');
    await nodes.fallSilent('a');
    await a.platform.close();
    await builds.set({ status: 'building' }).where('id', '=', made['id']).execute(); // as if the node had ended during it
    await nodes.until(async () => (await read('tools', made['id']))['status'] === 'error', 60_000);
    expect((await read('tools', made['id']))['error'].message).toContain('does not respond; build again');
    const layers = () => nodes.kysely.selectFrom('template_layer').select('id').where('node', '=', 'a').execute();
    expect(await layers()).toHaveLength(1);
    expect((await b.call('DELETE', '/api/templates/tools')).status).toBe(200);
    await nodes.until(async () => (await layers()).length === 0, 60_000);
  });

  it('make sandboxes for clients of E2B', async () => {
    const alone = await nodes.start('alone', { isAlone: true });
    const ask = () => alone.call('POST', '/e2b/sandboxes', { templateID: 'tools:v1' });
    a.blobs.beforeSeal = () => Promise.reject(new Error('the engine is away'));
    const made = await build(a, 'tools:v1');
    expect((await ask()).status).toBe(409);
    a.blobs.beforeSeal = async () => undefined;
    await archived('tools', made['id']);
    expect(await ask()).toMatchObject({ status: 201, body: { sandboxID: expect.any(String) } });
    expect(alone.driver.added).toHaveLength(1);
  });

  it('keep a fetched image on the node for some days without use', async () => {
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    await b.call('DELETE', `/api/sandboxes/${await create(b, 'tools')}`);
    expect(await b.driver.builds.list()).toHaveLength(1);
    for (const _ of [1, 2]) await nodes.advance(60_000);
    expect(await b.driver.builds.list()).toHaveLength(1);
    const used = async () => (await b.platform.module.quotaUsage([nodes.owner.workspaceUuid]))['sandbox_disk'];
    expect(await used()).toBe(2); // the archive and the copy, of less than 1 MiB each
    await nodes.kysely.updateTable('template_layer').set({ last_used_at: LONG_AGO }).where('node', '=', 'b').execute();
    await nodes.until(async () => (await b.driver.builds.list()).length === 0, 60_000);
    expect(await used()).toBe(1);
  });

  it('stay invisible to other workspaces on every node, and share no archive with equal ones of these', async () => {
    const made = await build(a, 'tools');
    await archived('tools', made['id']);
    const caller = b.platform.access.user('stranger@example.org');
    for (const template of ['tools', 'tools:latest', made['id']]) {
      const answer = await b.platform.call('POST', '/api/sandboxes', { caller, body: { template } });
      expect(answer).toMatchObject({ status: 404, body: { code: 'TEMPLATE_NOT_FOUND' } });
    }
    for (const [method, path] of [
      ['GET', '/api/templates/tools'],
      ['GET', `/api/templates/tools/builds/${made['id']}`],
      ['DELETE', '/api/templates/tools'],
    ] as const) {
      expect((await b.platform.call(method, path, { caller })).status).toBe(404);
    }
    const body = { from: 'busybox' };
    const other = await a.platform.call('POST', '/api/templates/tools/builds', { caller, body });
    const path = `/api/templates/tools/builds/${other.body['id']}`;
    await nodes.until(
      async () => typeof (await b.platform.call('GET', path, { caller })).body['archived_at'] === 'string',
    );
    expect(await nodes.stored()).toHaveLength(2);
  });
});
