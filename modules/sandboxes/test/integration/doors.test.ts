import type { FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

/**
 * `sandbox:exec` is enforced at several entry points. All of them must reject the same callers, with the same status.
 */
describe('running something in a sandbox', () => {
  const driver = new FakeDriver();
  let platform: TestPlatform;
  let id: string;
  let team: string;
  let callers: Readonly<Record<string, FakeCaller | null>>;

  beforeAll(async () => {
    platform = await startPlatform({ driver });
    const { access, owner } = platform;
    const created = await platform.call('POST', '/api/containers?wait_ms=10000', { body: { image: 'busybox' } });
    id = String(created.body['id']);
    team = access.team(owner.workspaceUuid);
    const joined = (role: 'admin' | 'member' | 'guest'): FakeCaller => {
      const caller = access.user(role);
      access.join(team, caller, role);
      return caller;
    };
    const scoped = (scope: 'read' | 'write' | 'admin') => access.serviceAccount(owner.workspaceUuid, [scope]);
    callers = {
      owner,
      admin: joined('admin'),
      member: joined('member'),
      'guest of the team': joined('guest'),
      stranger: access.user('stranger'),
      'guest sign-in': access.guest(),
      'service account that reads': scoped('read'),
      'service account that writes': scoped('write'),
      'service account that administers': scoped('admin'),
      'service account of another workspace': access.serviceAccount(access.user('other').workspaceUuid, ['admin']),
      nobody: null,
    };
  });
  afterAll(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  const scopeOf = (caller: FakeCaller | null): string => {
    const byTeam = caller?.principal.kind === 'user' && caller !== platform.owner;
    return `?workspace_uuid=${platform.owner.workspaceUuid}${byTeam ? `&team_uuid=${team}` : ''}`;
  };
  const rest = async (path: string, caller: FakeCaller | null, body: unknown): Promise<number> => {
    const { status } = await platform.call('POST', `/api/containers/${id}${path}${scopeOf(caller)}`, { caller, body });
    return status;
  };
  const terminal = async (query: string, headers: Record<string, string>): Promise<number> => {
    try {
      const client = await TerminalClient.open(platform.url, id, { query, headers });
      await client.close();
      return 101;
    } catch (error) {
      return (error as { status: number }).status; // TerminalClient's refusal
    }
  };
  const bearer = (caller: FakeCaller | null): string[] =>
    caller === null ? [] : [`bearer.${Buffer.from(caller.token).toString('base64url')}`];

  const DOORS: Readonly<Record<string, (caller: FakeCaller | null) => Promise<number>>> = {
    'a command': (caller) => rest('/exec', caller, { command: 'exit 0' }),
    'a ticket': (caller) => rest('/terminal/tickets', caller, undefined),
    'a preview link': (caller) => rest('/ports', caller, { port: 8080 }),
    'a terminal by header': (caller) => terminal(scopeOf(caller), { ...caller?.headers }),
    'a terminal by subprotocol': async (caller) => {
      const options = { query: scopeOf(caller), protocols: bearer(caller) };
      return TerminalClient.open(platform.url, id, options).then(
        async (client) => {
          await client.close();
          return 101;
        },
        (error: { status: number }) => error.status,
      );
    },
    'a terminal by ticket': async (caller) => {
      const path = `/api/containers/${id}/terminal/tickets${scopeOf(caller)}`;
      const { status, body } = await platform.call('POST', path, { caller });
      return status === 201 ? terminal(`?ticket=${String(body['ticket'])}`, {}) : status;
    },
  };

  it('returns the same status at every entry point, for every caller', async () => {
    const answers: Record<string, unknown> = {};
    for (const [name, caller] of Object.entries(callers)) {
      const statuses = new Set<number>();
      for (const open of Object.values(DOORS)) {
        const status = await open(caller);
        statuses.add(status < 400 ? 200 : status);
      }
      answers[name] = [...statuses];
    }
    expect(answers).toEqual({
      owner: [200],
      admin: [200],
      member: [200],
      'guest of the team': [403],
      stranger: [403],
      'guest sign-in': [404],
      'service account that reads': [403],
      'service account that writes': [200],
      'service account that administers': [200],
      'service account of another workspace': [404],
      nobody: [401],
    });
  });
});
