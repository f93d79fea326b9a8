import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { fakeClock, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

const DOCUMENT = JSON.parse(readFileSync(new URL('../../../../api/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, unknown>>;
}; // generated from the routes
/** Routes of one sandbox that only use records. A test covers each of them. */
const ANY_NODE = [
  'GET /api/sandboxes/{id}',
  'PATCH /api/sandboxes/{id}',
  'DELETE /api/sandboxes/{id}',
  'GET /api/sandboxes/{id}/events',
  'GET /api/sandboxes/{id}/ports',
  'POST /api/sandboxes/{id}/terminal/tickets',
];

/** One database and, in turn, the nodes that serve it. */
describe('the sandboxes of another node', () => {
  let drivers: Record<'a' | 'b', FakeDriver>;
  let clock: FakeClock;
  let platform: TestPlatform;
  let here: 'a' | 'b';
  let live: Set<string>;
  let silent: string[];

  beforeEach(async () => {
    drivers = { a: new FakeDriver(), b: new FakeDriver() };
    clock = fakeClock();
    here = 'a';
    live = new Set();
    silent = [];
    platform = await startPlatform({
      get driver() {
        return drivers[here];
      },
      get node() {
        return here;
      },
      nodes: { isLive: async (node) => live.has(node), live: async () => [...live], silent: async () => silent },
      clock,
    });
  });
  afterEach(async () => {
    await platform.dispose();
    await drivers.a.dispose();
    await drivers.b.dispose();
  });

  /** The process of one node ends and another one starts; the sandboxes of the first run on. */
  const moveTo = async (node: 'a' | 'b'): Promise<void> => {
    await platform.close();
    here = node;
    await platform.reopen();
  };
  const create = async (): Promise<string> => {
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=10000', { body: { image: 'busybox' } });
    expect(created.body).toMatchObject({ status: 'running' });
    return created.body['id'];
  };
  const read = async (id: string) => (await platform.call('GET', `/api/sandboxes/${id}`)).body;
  const withRows = <Result>(use: (database: DatabaseSync) => Result): Result => {
    const database = new DatabaseSync(join(platform.folder, 'svc.db'));
    try {
      return use(database);
    } finally {
      database.close();
    }
  };
  const TABLES = ['sandbox', 'sandbox_snapshot', 'sandbox_preview', 'sandbox_event'] as const;
  const rows = () => withRows((database) => TABLES.map((table) => database.prepare(`select * from ${table}`).all()));

  /** Long enough for their sandboxes to count as lost. */
  const fallSilent = (...nodes: string[]): void => {
    silent = nodes;
    withRows((database) => database.exec("update sandbox_node set reported_at = '2020-01-01T00:00:00.000Z'"));
  };

  const operations = Object.entries(DOCUMENT.paths)
    .filter(([path]) => path.startsWith('/api/sandboxes/{id}'))
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .filter((operation) => !operation.startsWith('HEAD ')); // its answers have no body

  it('are refused by every operation that needs them, before it changes a record or a machine', async () => {
    const id = await create();
    await moveTo('b');
    live.add('a');
    const before = rows();
    expect(operations).toEqual(expect.arrayContaining(ANY_NODE));
    const refused = operations.filter((operation) => !ANY_NODE.includes(operation));
    expect(refused.length).toBeGreaterThan(20);
    for (const operation of refused) {
      const [method = '', path = ''] = operation.split(' ');
      const url = path.replace('{id}', id).replace('{port}', '8080').replace('{session}', 'main');
      for (const each of [url, url.replace('/sandboxes/', '/containers/')]) {
        const answer = await platform.call(method, each);
        expect([operation, answer.status, answer.body['code'], answer.headers.get('retry-after')]).toEqual([
          operation,
          503,
          'SANDBOX_ELSEWHERE',
          '1',
        ]);
        expect(answer.body['details']).toMatchObject({ node: 'a', node_is_live: true });
      }
    }
    expect(rows()).toEqual(before);
    expect([...drivers.a.sandboxes.keys()]).toEqual([id]);
    expect(await drivers.a.inspect(id)).toMatchObject({ running: true });
    expect(drivers.b.sandboxes.size).toBe(0);
  });

  it('are refused to terminals and previews', async () => {
    const id = await create();
    const made = await platform.call('POST', `/api/sandboxes/${id}/ports`, { body: { port: 8080 } });
    const { host, search } = new URL(String(made.body['url']));
    await moveTo('b');
    live.add('a');
    await expect(TerminalClient.open(platform.url, id, { headers: platform.owner.headers })).rejects.toMatchObject({
      status: 503,
      body: { code: 'SANDBOX_ELSEWHERE' },
    });
    const visit = async (): Promise<number | undefined> => {
      const { port } = new URL(platform.url);
      const asked = httpRequest({ host: '127.0.0.1', port, path: `/${search}`, agent: false, headers: { host } }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]; // node's own event
      answer.resume();
      return answer.statusCode;
    };
    expect(await visit()).toBe(503);
  });

  it('say what to do if no process serves their node', async () => {
    const id = await create();
    await moveTo('b');
    const answer = await platform.call('POST', `/api/sandboxes/${id}/stop`);
    expect(answer).toMatchObject({
      status: 503,
      body: { code: 'SANDBOX_ELSEWHERE', details: { node: 'a', node_is_live: false } },
    });
    expect(answer.body['error']).toContain('start it again, or delete the sandbox');
    expect(answer.headers.get('retry-after')).toBe('10');
  });

  it('are not revealed to callers of another workspace', async () => {
    const id = await create();
    await moveTo('b');
    const caller = platform.access.user('stranger@example.org');
    expect(await platform.call('POST', `/api/sandboxes/${id}/stop`, { caller })).toMatchObject({ status: 404 });
    expect(await platform.call('POST', `/api/sandboxes/${id}/stop`, { caller: null })).toMatchObject({ status: 401 });
  });

  it('can be read and listed anywhere, with their events, links and tickets', async () => {
    const id = await create();
    await moveTo('b');
    expect(await read(id)).toMatchObject({ id, status: 'running' });
    expect((await platform.call('GET', '/api/sandboxes')).body).toMatchObject({ count: 1, containers: [{ id }] });
    expect((await platform.call('GET', `/api/sandboxes/${id}/events?format=json`)).status).toBe(200);
    expect((await platform.call('GET', `/api/sandboxes/${id}/ports`)).status).toBe(200);
    expect((await platform.call('POST', `/api/sandboxes/${id}/terminal/tickets`)).status).toBe(201);
  });

  it('can be deleted anywhere: their record is gone at once, their disk when their node returns', async () => {
    const id = await create();
    await moveTo('b');
    expect((await platform.call('DELETE', `/api/sandboxes/${id}`)).status).toBe(200);
    expect((await platform.call('GET', `/api/sandboxes/${id}`)).status).toBe(404);
    await clock.advance(60_000);
    expect(drivers.a.sandboxes.has(id)).toBe(true);
    expect(rows()[0]).toMatchObject([{ id, node: 'a', removed_at: expect.any(String) }]); // its node still has to see it
    await moveTo('a');
    expect(drivers.a.sandboxes.has(id)).toBe(false);
    expect(rows()[0]).toEqual([]);
  });

  it('keep the files of a snapshot that another node deletes, until their node removes them', async () => {
    const id = await create();
    const made = await platform.call('POST', `/api/sandboxes/${id}/snapshots`);
    const snapshot = String(made.body['id']);
    await moveTo('b');
    expect((await platform.call('DELETE', `/api/snapshots/${snapshot}`)).status).toBe(200);
    await clock.advance(60_000);
    expect(rows()[1]).toMatchObject([{ id: snapshot, state: 'removed' }]);
    await moveTo('a');
    expect([...drivers.a.kept]).toEqual([]);
    expect(rows()[1]).toEqual([]);
  });

  it('keep their files on a machine whose replica lost its id', async () => {
    const id = await create();
    const own = drivers.b;
    drivers.b = drivers.a; // the same machine under another id
    await moveTo('b');
    expect([...drivers.a.sandboxes.keys()]).toEqual([id]);
    expect(await platform.call('POST', `/api/sandboxes/${id}/stop`)).toMatchObject({ status: 503 });
    await moveTo('a');
    drivers.b = own;
    expect(await platform.call('POST', `/api/sandboxes/${id}/stop`)).toMatchObject({ status: 200 });
  });

  describe('after their node fell silent', () => {
    it('are reported as lost once, and continue when the node returns', async () => {
      const id = await create();
      const stopped = await create();
      await platform.call('POST', `/api/sandboxes/${stopped}/stop`);
      await moveTo('b');
      await clock.advance(5_000);
      expect(await read(id)).toMatchObject({ status: 'running' });
      fallSilent('a', 'b');
      await clock.advance(5_000);
      await expect
        .poll(() => read(id))
        .toMatchObject({ status: 'error', state_reason: 'NODE_LOST', error: { code: 'NODE_LOST', recoverable: true } });
      await clock.advance(60_000);
      const events = (await platform.call('GET', `/api/sandboxes/${id}/events?format=json`)).body['events'];
      expect(events.filter(({ type }: { type: string }) => type === 'error')).toHaveLength(1);
      expect(await read(stopped)).toMatchObject({ status: 'stopped' });

      await moveTo('a');
      expect(await read(id)).toMatchObject({ status: 'running', error: null });
      expect(await drivers.a.inspect(id)).toMatchObject({ running: true });
      expect((await platform.call('POST', `/api/sandboxes/${id}/pause`)).status).toBe(200);
    });

    it('are not reported as lost if the node has reported since', async () => {
      const id = await create();
      await moveTo('b');
      silent = ['a']; // what this node found before it was paused
      await clock.advance(5_000);
      await clock.advance(5_000);
      expect(await read(id)).toMatchObject({ status: 'running' });
    });

    it('free the terminals that count towards the quotas', async () => {
      const insert = (database: DatabaseSync): void =>
        database.exec("insert into sandbox_terminal values ('1', 'workspace', 'a'), ('2', 'workspace', 'b')");
      const count = (database: DatabaseSync): unknown[] => database.prepare('select node from sandbox_terminal').all();
      await moveTo('b');
      withRows(insert);
      fallSilent('a');
      await clock.advance(5_000);
      await expect.poll(() => withRows(count)).toEqual([{ node: 'b' }]);
    });

    it('stay paused', async () => {
      const id = await create();
      await platform.call('POST', `/api/sandboxes/${id}/pause`);
      await moveTo('b');
      fallSilent('a');
      await clock.advance(5_000);
      await expect.poll(async () => (await read(id))['status']).toBe('error');
      await moveTo('a');
      expect(await read(id)).toMatchObject({ status: 'running', paused_at: expect.any(String) });
    });

    it('can be started again on their node if they ended with it', async () => {
      const id = await create();
      await moveTo('b');
      fallSilent('a');
      await clock.advance(5_000);
      await expect.poll(async () => (await read(id))['status']).toBe('error');
      await drivers.a.crash(id);
      await moveTo('a');
      expect(await read(id)).toMatchObject({ status: 'error', error: { code: 'NODE_LOST', recoverable: true } });
      const started = await platform.call('POST', `/api/sandboxes/${id}/start?wait_ms=10000`);
      expect(started).toMatchObject({ status: 200, body: { status: 'running' } });
    });

    it('run on if the node was only cut off from the database', async () => {
      const id = await create();
      await clock.advance(5_000);
      // What another node writes meanwhile.
      const lost = "status = 'error', state_reason = 'NODE_LOST', error_code = 'NODE_LOST', error_recoverable = 1";
      withRows((database) => database.exec(`update sandbox set ${lost}`));
      await clock.advance(5_000);
      await expect.poll(() => read(id)).toMatchObject({ status: 'running', error: null });
    });
  });
});
