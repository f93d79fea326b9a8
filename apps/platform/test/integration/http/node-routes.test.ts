import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  newMember,
  newServiceAccount,
  newTeam,
  newToken,
  signIn,
  type Caller,
  type Person,
} from '../../support/callers.ts';
import { startHeldPlatform, type HeldPlatform } from '../../support/held-platform.ts';

const PATH = '/api/v1/admin/nodes';

describe('the routes of nodes', () => {
  let platform: HeldPlatform;
  let operator: Person;
  let id: string;

  beforeAll(async () => {
    platform = await startHeldPlatform({ password: { memory_kib: 8, passes: 1, parallelism: 1 } });
    operator = await signIn(platform, 'owner@example.com');
    const { replica, folder } = platform.composition;
    ({ id } = replica);
    const database = new DatabaseSync(folder.databaseFile);
    // What the node reports at its start.
    database
      .prepare(
        "insert or replace into sandbox_node values (?, 'local', 2000, 2, 4096, 1024, 8192, '2026-01-01T00:00:00.000Z', null)",
      )
      .run(id);
    database.close();
  });
  afterAll(() => platform.close());

  const list = async (): Promise<unknown[]> => {
    const { status, body } = await platform.call('GET', PATH, operator.headers);
    expect(status).toBe(200);
    return body['nodes'] as unknown[]; // compared below
  };

  it('show no authority of replicas with SQLite, where no other one can be', async () => {
    expect((await platform.call('GET', PATH, operator.headers)).body).toMatchObject({ internal_authority: null });
  });

  it('show the one replica of SQLite and its node', async () => {
    expect(await list()).toMatchObject([
      {
        id,
        this_node: true,
        replica: { version: expect.any(String), host: expect.any(String), url: null, live: true },
        sandboxes: {
          driver: 'local',
          running: 0,
          total: 0,
          max_running: 2000,
          room: { cpus: 2, free_disk_bytes: 8192 },
        },
        drain: null,
      },
    ]);
  });

  it('drain it and end the drain, with an audit entry each', async () => {
    const drained = await platform.call('POST', `${PATH}/${id}/drain`, operator.headers);
    expect(drained).toMatchObject({ status: 200, body: { id, drain: { state: 'drained', remaining: 0 } } });
    expect(await list()).toMatchObject([{ drain: { requested_at: expect.any(String) } }]);
    const ended = await platform.call('POST', `${PATH}/${id}/undrain`, operator.headers, {});
    expect(ended).toMatchObject({ status: 200, body: { id, drain: null } });
    const { body } = await platform.call('GET', '/api/v1/audit?page_size=10', operator.headers);
    expect(body['entries']).toEqual(
      expect.arrayContaining(
        ['node:drain', 'node:undrain'].map((action) =>
          expect.objectContaining({ action, resource: id, outcome: 'success' }),
        ),
      ),
    );
  });

  it('refuse everybody but the operator', async () => {
    const team = await newTeam(platform, operator);
    const callers: [string, Partial<Caller>][] = [
      ['a user', await newMember(platform, operator, team, 'admin')],
      ['a service account of the operator', await newServiceAccount(platform, operator, operator.workspace)],
    ];
    for (const [method, path] of [
      ['GET', PATH],
      ['POST', `${PATH}/${id}/drain`],
      ['POST', `${PATH}/${id}/undrain`],
    ] as const) {
      expect(await platform.call(method, path, {}), path).toMatchObject({ status: 401 });
      for (const [name, { headers = {} }] of callers) {
        const answer = await platform.call(method, path, headers);
        expect(answer, `${method} ${path} by ${name}`).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
      }
    }
    expect(await list()).toMatchObject([{ drain: null }]);
  });

  it('refuse an unknown node and unknown fields', async () => {
    const { headers } = await newToken(platform, operator);
    expect(await platform.call('POST', `${PATH}/nowhere/drain`, headers)).toMatchObject({
      status: 404,
      body: { code: 'NODE_NOT_FOUND', details: { node: 'nowhere' } },
    });
    expect(await platform.call('POST', `${PATH}/${id}/drain`, headers, { force: true })).toMatchObject({ status: 400 });
    expect(await list()).toMatchObject([{ drain: null }]);
  });
});
