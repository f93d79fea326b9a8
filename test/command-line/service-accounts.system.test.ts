import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandLine } from './command-line.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

interface Account {
  id: string;
  name: string;
  scopes: string[];
  token: string;
}

describe('svc service-account and svc e2b', () => {
  let store: CommandStore;
  let svc: CommandLine;
  beforeAll(async () => {
    store = await startCommandStore();
    svc = store.svc;
  });
  afterAll(async () => store[Symbol.asyncDispose]());

  const me = async (token: string) =>
    fetch(`${store.platform.ready.url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } });
  const list = () => svc.json<Account[]>(['service-account', 'ls']);

  it('creates, renames, lists and revokes service accounts', async () => {
    const made = await svc.json<Account>(['service-account', 'create', 'ci', '--scope', 'read', '--expires', '1h']);
    expect(made).toMatchObject({ name: 'ci', scopes: ['read'], token: expect.stringMatching(/^sat_/) });
    expect((await me(made.token)).status).toBe(200);
    expect(await svc.answer(['service-account', 'rename', made.id, 'tests'])).toContain(`Renamed ${made.id} to tests`);
    expect(await list()).toEqual([expect.not.objectContaining({ token: expect.anything() })]);
    expect(await list()).toMatchObject([{ id: made.id, name: 'tests' }]);
    expect(await svc.answer(['service-account', 'rm', made.id])).toContain(`Revoked ${made.id}`);
    expect((await me(made.token)).status).toBe(401);
    expect(await list()).toEqual([]);
  });

  it('refuses unknown scopes and IDs', async () => {
    const scope = await svc.run(['service-account', 'create', 'ci', '--scope', 'root']);
    expect([scope.exitCode, scope.stderr]).toEqual([2, expect.stringContaining('"root" is not a scope')]);
    expect((await svc.run(['service-account', 'rm', 'none'])).exitCode).toBe(1);
    expect((await svc.run(['service-account', 'rename', 'none', 'x'])).exitCode).toBe(1);
  });

  it('prints the settings of E2B clients, with a key that they accept', async () => {
    const lines = (await svc.answer(['e2b', '--name', 'agents'])).trimEnd().split('\n');
    const { url } = store.platform.ready;
    expect(lines.slice(0, 3)).toEqual([
      `export E2B_API_URL='${url}/e2b'`,
      `export E2B_SANDBOX_URL='${url}/e2b/envd'`,
      `export E2B_VOLUME_API_URL='${url}/e2b'`,
    ]);
    const key = /^export E2B_API_KEY='(e2b_[0-9a-f]{40})'$/.exec(lines[3] ?? '')?.[1] ?? '';
    expect(await (await me(key)).json()).toMatchObject({ service_account: { name: 'agents', scopes: ['write'] } });
    const settings = await svc.json<Record<string, string>>(['e2b']);
    expect(Object.keys(settings)).toEqual(['E2B_API_URL', 'E2B_SANDBOX_URL', 'E2B_VOLUME_API_URL', 'E2B_API_KEY']);
  });
});
