import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRig, type Rig } from '../../support/rig.ts';
import { serviceHost } from '../../../src/routes/tunnel/tunnel-address.ts';

/**
 * `tunnel:use` and `command:exec` have several entry points. If one refuses a caller, so must all others of the same
 * action.
 */
describe('access to a cluster', () => {
  let rig: Rig;
  let cluster: { id: string; name: string };
  let team: string;
  let callers: Readonly<Record<string, FakeCaller | null>>;

  beforeAll(async () => {
    rig = await startRig({ config: { connects_per_minute: 1000 } });
    cluster = await rig.addCluster();
    team = rig.access.team(rig.owner.workspaceUuid);
    const joined = (role: 'admin' | 'member' | 'guest'): FakeCaller => {
      const caller = rig.access.user(role);
      rig.access.join(team, caller, role);
      return caller;
    };
    const scoped = (scope: 'read' | 'write') => rig.access.serviceAccount(rig.owner.workspaceUuid, [scope]);
    callers = {
      owner: rig.owner,
      admin: joined('admin'),
      member: joined('member'),
      'guest of the team': joined('guest'),
      stranger: rig.access.user('stranger'),
      'service account that reads': scoped('read'),
      'service account that writes': scoped('write'),
      nobody: null,
    };
  });
  afterAll(() => rig.close());

  const isMember = (caller: FakeCaller | null): boolean => caller?.principal.kind === 'user' && caller !== rig.owner;
  const scopeOf = (caller: FakeCaller | null): string =>
    `workspace_uuid=${rig.owner.workspaceUuid}${isMember(caller) ? `&team_uuid=${team}` : ''}`;

  async function send(caller: FakeCaller | null, path: string, headers: Record<string, string> = {}): Promise<number> {
    const byTeam = isMember(caller) ? { 'x-team-uuid': team } : {};
    const all = { host: 'a', ...caller?.headers, ...byTeam, ...headers };
    const outgoing = httpRequest({ host: '127.0.0.1', port: rig.port, path, agent: false, headers: all });
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]; // Node's event
    response.resume();
    return response.statusCode ?? 0;
  }

  const upgrade = (protocol: string) => ({
    connection: 'Upgrade',
    upgrade: protocol,
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-version': '13',
  });
  const post = async (caller: FakeCaller | null, path: string, body: unknown): Promise<number> =>
    (await rig.call('POST', `${path}?${scopeOf(caller)}`, { caller, body })).status;
  const below = (): string => `/v1/clusters/${cluster.id}/tunnel/web/x`;

  type Door = (caller: FakeCaller | null) => Promise<number>;
  const TUNNEL: Readonly<Record<string, Door>> = {
    'a request below the path': (caller) => send(caller, below()),
    'an upgrade below the path': (caller) => send(caller, below(), upgrade('x')),
    'a request on the host of the cluster': (caller) =>
      send(caller, '/web/x', { host: `tunnel-${cluster.id}.localhost` }),
    'a request on the host of the service': (caller) =>
      send(caller, '/x', { host: serviceHost(cluster.id, 'web', 'localhost') }),
    'an upgrade on the host of the service': (caller) =>
      send(caller, '/x', { host: serviceHost(cluster.id, 'web', 'localhost'), ...upgrade('x') }),
    'a forward': (caller) => send(caller, `/v1/clusters/${cluster.id}/forward/web`, upgrade('svc-mux/1')),
    'a link': (caller) => post(caller, `/v1/clusters/${cluster.id}/tunnel-links`, { service: 'web' }),
  };
  const EXEC: Readonly<Record<string, Door>> = {
    'a command': (caller) =>
      post(caller, `/v1/clusters/${cluster.id}/exec`, { pod: 'web-1', namespace: 'shop', command: ['true'] }),
    'a shell': (caller) =>
      send(
        caller,
        `/v1/clusters/${cluster.id}/shell?namespace=shop&pod=web-1&${scopeOf(caller)}`,
        upgrade('websocket'),
      ),
  };

  /** Allowed: succeeded, or failed only because the agent is offline. */
  const isIn = (status: number): boolean => status < 400 || status === 503;

  it.each([
    { action: 'tunnel:use', doors: TUNNEL },
    { action: 'command:exec', doors: EXEC },
  ])('returns the same status at every entry point of $action, for every caller', async ({ doors }) => {
    const answers: Record<string, unknown> = {};
    for (const [name, caller] of Object.entries(callers)) {
      const statuses = new Set<number>();
      for (const open of Object.values(doors)) {
        const status = await open(caller);

        statuses.add(isIn(status) ? 200 : status);
      }
      answers[name] = [...statuses];
    }
    expect(answers).toEqual({
      owner: [200],
      admin: [200],
      member: [200],
      'guest of the team': [403],
      stranger: [403],
      'service account that reads': [403],
      'service account that writes': [200],
      nobody: [401],
    });
  });
});
