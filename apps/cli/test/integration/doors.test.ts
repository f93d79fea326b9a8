import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { COMMANDS, NOT_RUN } from '../support/command-table.ts';
import { startWorld, type Who, type World } from '../support/door-world.ts';
import { listCommands } from '../support/run-command.ts';

vi.mock('../../src/client/read-secret.ts', () => ({ readSecret: async () => 'correct horse battery' }));

const REFUSALS: ReadonlySet<number | null> = new Set([401, 403]);
const OPENAPI = new URL('../../../../api/openapi.json', import.meta.url);

let world: World;

beforeAll(async () => {
  world = await startWorld();
}, 60_000);
afterAll(() => world.close());

/** Connections that leave HTTP, with a route that needs the same right. */
const UPGRADES: Readonly<Record<string, string>> = {
  'UPGRADE /ws/terminal/:id': 'POST /api/containers/:id/exec',
  'UPGRADE /v1/clusters/:cluster/forward/:service': 'GET /v1/clusters/:cluster/tunnel-endpoints',
};

/** Method and path of every documented operation. */
function documented(): ReadonlySet<string> {
  const { paths } = JSON.parse(readFileSync(OPENAPI, 'utf8')) as { paths: Record<string, object> }; // generated
  return new Set(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    ),
  );
}

describe('every command', () => {
  it('has a row, or a reason why it asks no platform', async () => {
    const commands = await listCommands();
    expect([...Object.keys(COMMANDS), ...Object.keys(NOT_RUN)].toSorted()).toEqual([...commands.keys()].toSorted());
    const connecting = [...commands].filter(([, connects]) => connects).map(([name]) => name);
    expect(connecting.filter((name) => !(name in COMMANDS)).toSorted()).toEqual(['mcp', 'sandbox shell']);
  });

  it.each(Object.entries(COMMANDS))('asks for documented routes and no others: %s', async (name, row) => {
    world.recorder.isDry = true;
    const { asks, optional = [], bySignIn = [], serves } = row;
    const run = await world.run(name, row.args, 'owner', serves === true ? asks.at(-1) : undefined);
    const asked = [...new Set(world.asked().map(({ route }) => route))];
    expect(asked.toSorted(), run.stderr).toEqual([...asks, ...optional, ...bySignIn].toSorted());
    const known = documented();
    const isKnown = (route: string): boolean => route === 'S3' || route in UPGRADES || known.has(route);
    expect(asked.filter((route) => !isKnown(route))).toEqual([]);
  });
});

describe.each<Who>(['guest', 'reader', 'stranger', 'expired'])('a caller without all rights: %s', (who) => {
  const verdicts = new Map<string, Promise<boolean>>();
  const isLetIn = (route: string): Promise<boolean> => {
    const asked = UPGRADES[route] ?? route;
    const known = verdicts.get(asked) ?? world.isLetIn(asked, who);
    verdicts.set(asked, known);
    return known;
  };

  it.each(Object.entries(COMMANDS))('is refused exactly where REST refuses: %s', async (name, row) => {
    world.recorder.isDry = false;
    const { asks, optional = [], serves } = row;
    const routes = asks.filter((route) => route !== 'S3');
    const allowed = (await Promise.all(routes.map(isLetIn))).every(Boolean);
    const run = await world.run(name, row.args, who, serves === true ? asks.at(-1) : undefined);
    const refused = world.asked().filter(({ route, status }) => REFUSALS.has(status) && !optional.includes(route));
    expect(run.stderr).not.toContain('unexpected failure');
    if (allowed) {
      expect(refused, run.stderr).toEqual([]);
      return;
    }
    expect([run.exitCode, refused.length > 0 || world.asked().some(({ status }) => status === 404)]).toEqual([1, true]);
    const message = run.stderr.trim().split('\n');
    expect(message).toHaveLength(1);
    expect(message[0]).toMatch(
      who === 'expired'
        ? /^svc: .*run svc login again\)$/
        : /^svc: .*(permission|not allowed|not found|not a member|denied)/i,
    );
  });
});
