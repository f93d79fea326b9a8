import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { skippedTitle, waitFor, type FakeCaller } from '@svc/testing';
import { AuthenticationError, Sandbox, SandboxNotFoundError } from 'e2b';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'the API of E2B clients';

const LITERAL = { transform: { headers: { a: 'b' } } };

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let sandbox: Sandbox;
  /** A key of the owner's workspace. */
  let key: FakeCaller;
  const optionsOf = (caller: { readonly token: string }) => ({
    apiUrl: `${platform.url}/e2b`,
    sandboxUrl: `${platform.url}/e2b/envd`,
    apiKey: caller.token,
    validateApiKey: false,
  });
  const newKey = (scope: 'read' | 'write' = 'write') =>
    platform.access.serviceAccount(platform.owner.workspaceUuid, [scope]);
  const control = (method: string, path: string, caller: FakeCaller | null, body?: unknown) =>
    platform.call(method, `/e2b${path}`, {
      caller: null,
      headers: caller === null ? {} : { 'x-api-key': caller.token },
      ...(body === undefined ? {} : { body }),
    });
  const envd = (path: string, headers: Readonly<Record<string, string>>, method = 'GET') =>
    fetch(`${platform.url}/e2b/envd${path}`, { method, headers });
  /** Headers of the data plane, as the SDK sends them. */
  const address = async (of: Sandbox, caller: FakeCaller) => {
    const { body } = await control('GET', `/sandboxes/${of.sandboxId}`, caller);
    return { 'e2b-sandbox-id': of.sandboxId, 'x-access-token': String(body['envdAccessToken']) };
  };

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox' });
    key = newKey();
    sandbox = await Sandbox.create('busybox', optionsOf(key));
  });
  afterAll(() => platform.dispose());

  it('refuses unknown keys, and keys of other workspaces as if there were no sandbox', async () => {
    const { sandboxId } = sandbox;
    await expect(Sandbox.create('busybox', optionsOf({ token: 'e2b_00' }))).rejects.toThrow(AuthenticationError);
    expect(await control('GET', '/v2/sandboxes', null)).toMatchObject({
      status: 401,
      body: { code: 401, message: expect.any(String) },
    });
    const stranger = platform.access.user('stranger');
    await expect(Sandbox.getInfo(sandboxId, optionsOf(stranger))).rejects.toThrow(SandboxNotFoundError);
    await expect(Sandbox.connect(sandboxId, optionsOf(stranger))).rejects.toThrow(SandboxNotFoundError);
    await expect(Sandbox.setTimeout(sandboxId, 1000, optionsOf(stranger))).rejects.toThrow(SandboxNotFoundError);
    expect(await Sandbox.kill(sandboxId, optionsOf(stranger))).toBe(false);
    expect(await Sandbox.list(optionsOf(stranger)).nextItems()).toEqual([]);
    for (const path of ['pause', 'resume', 'refreshes', 'snapshots', 'fork']) {
      expect((await control('POST', `/sandboxes/${sandboxId}/${path}`, stranger, {})).status, path).toBe(404);
    }
    expect((await control('PUT', `/sandboxes/${sandboxId}/network`, stranger, {})).status).toBe(404);
    expect((await control('GET', `/sandboxes/${sandboxId}/metrics`, stranger)).status).toBe(404);
    expect((await control('GET', `/sandboxes/metrics?sandbox_ids=${sandboxId}`, stranger)).body).toEqual({
      sandboxes: {},
    });
    expect((await control('DELETE', '/templates/snp_aaaaaaaaaaaaaaaaaaaaaaaaaa', stranger)).status).toBe(404);
    expect(await sandbox.isRunning()).toBe(true);
  });

  it('lets a key do what its scopes allow', async () => {
    const reader = newKey('read');
    expect((await control('GET', `/sandboxes/${sandbox.sandboxId}`, reader)).status).toBe(200);
    expect((await control('POST', '/v2/sandboxes', reader, { templateID: 'busybox' })).status).toBe(403);
    expect((await control('POST', `/sandboxes/${sandbox.sandboxId}/fork`, reader, {})).status).toBe(403);
    expect((await control('PUT', `/sandboxes/${sandbox.sandboxId}/network`, reader, {})).status).toBe(403);
    expect((await control('DELETE', `/sandboxes/${sandbox.sandboxId}`, reader)).status).toBe(403);
    const headers = await address(sandbox, reader);
    expect((await envd('/health', headers)).status).toBe(204);
    const start = { ...headers, 'content-type': 'application/connect+json' };
    expect((await envd('/process.Process/Start', start, 'POST')).status).toBe(403);
    expect((await envd('/filesystem.Filesystem/Remove', headers, 'POST')).status).toBe(403);
    expect((await envd('/files?path=x', headers, 'POST')).status).toBe(403);
  });

  it('requires the token of the sandbox, and tells nothing without it', async () => {
    const other = await Sandbox.create('busybox', optionsOf(key));
    const { 'x-access-token': foreign } = await address(other, key);
    const unknown = 'a'.repeat(26);
    const attempts: Record<string, string>[] = [
      {},
      { 'e2b-sandbox-id': sandbox.sandboxId },
      { 'e2b-sandbox-id': unknown },
      { 'e2b-sandbox-id': sandbox.sandboxId, 'x-access-token': foreign },
      { 'e2b-sandbox-id': unknown, 'x-access-token': foreign },
      { 'e2b-sandbox-id': '../..', 'x-access-token': foreign },
      { 'e2b-sandbox-id': sandbox.sandboxId, 'x-api-key': key.token },
      { 'e2b-sandbox-id': sandbox.sandboxId, authorization: `Bearer ${key.token}` },
    ];
    for (const headers of attempts) {
      for (const path of ['/health', '/envs', '/metrics', '/files?path=/etc/passwd']) {
        const response = await envd(path, headers);
        expect([response.status, await response.json()], path).toEqual([
          401,
          { code: 401, message: 'Missing or invalid sandbox token' },
        ]);
      }
      expect((await envd('/process.Process/List', headers, 'POST')).status).toBe(401);
    }
    await other.kill();
  });

  it('answers 502 to the holder of a token whose sandbox is gone, also once nothing is left of it', async () => {
    const own = await Sandbox.create('busybox', optionsOf(key));
    const headers = await address(own, key);
    const url = await (await Sandbox.connect(own.sandboxId, optionsOf(key))).downloadUrl('x');
    await own.kill();
    expect((await envd('/health', headers)).status).toBe(502);
    await waitFor(async () => (await fetch(url)).status === 401);
    const response = await envd('/files?path=x', headers);
    expect([response.status, await response.json()]).toEqual([
      502,
      { code: 502, message: 'The sandbox was not found' },
    ]);
  });

  it('ends what a revoked key has opened, and refuses it, its tokens and its signatures', async () => {
    const revoked = newKey();
    const own = await Sandbox.connect(sandbox.sandboxId, optionsOf(revoked));
    const url = await own.downloadUrl('/etc/passwd');
    expect((await fetch(url)).status).toBe(200);
    const command = await own.commands.run('while sleep 0.05; do echo tick; done', { background: true });
    const watch = Promise.withResolvers<unknown>();
    await own.files.watchDir('/', () => undefined, { onExit: watch.resolve, timeoutMs: 0 });
    platform.access.revoke(revoked);
    await expect(command.wait()).rejects.toThrow();
    expect(await watch.promise).toBeInstanceOf(Error);
    await expect(own.files.list('/')).rejects.toThrow(AuthenticationError);
    await expect(own.isRunning()).rejects.toThrow(AuthenticationError);
    expect((await fetch(url)).status).toBe(401);
    expect(await sandbox.isRunning()).toBe(true);
    expect(await sandbox.commands.kill(command.pid)).toBe(true);
  });

  it('takes a signature for no other path, operation and user than those it was made for', async () => {
    const own = await Sandbox.connect(sandbox.sandboxId, optionsOf(key));
    const url = new URL(await own.downloadUrl('/a:write:b', { user: 'root' }));
    url.searchParams.set('path', '/a');
    url.searchParams.set('username', 'b:read:root');
    expect((await fetch(url, { method: 'POST', body: new FormData() })).status).toBe(401);
  });

  it('opens no file for HEAD, which no client sends', async () => {
    const headers = await address(sandbox, key);
    expect((await envd('/files?path=/etc/passwd', headers, 'HEAD')).status).toBe(405);
    expect((await envd('/files?path=/etc/passwd', headers)).status).toBe(200);
  });

  it('names what it does not support', async () => {
    const create = (more: object) => control('POST', '/v2/sandboxes', key, { templateID: 'busybox', ...more });
    const refused: [object, RegExp][] = [
      [{ iam: { tokens: { a: {} } } }, /^The field iam/],
      [{ network: { rules: { 'a.com': [LITERAL] } } }, /^The literal value of the header a/],
      [{ laterField: true }, /^The field laterField/],
    ];
    for (const [more, message] of refused) {
      expect(await create(more)).toMatchObject({
        status: 501,
        body: { code: 501, message: expect.stringMatching(message) },
      });
    }
    for (const [method, path] of [
      ['POST', '/v2/templates'],
      ['POST', '/templates/a/builds/b'],
      ['POST', '/access-tokens'],
    ] as const) {
      expect((await control(method, path, key, {})).status, path).toBe(501);
    }
    expect(await create({ templateID: 'missing' })).toMatchObject({ status: 404, body: { code: 404 } });
    expect((await create({ autoResume: { enabled: true } })).status).toBe(400);
    expect((await create({ autoPause: true, autoPauseMemory: false, autoResume: { enabled: true } })).status).toBe(400);
    const network = (body: object) => control('PUT', `/sandboxes/${sandbox.sandboxId}/network`, key, body);
    expect(await network({ rules: { 'a.com': [LITERAL] } })).toMatchObject({ status: 501 });
    expect(await network({ denyOut: ['a.com'] })).toMatchObject({ status: 400 });
    for (const wrong of [{ count: 0 }, { count: 21 }, { timeout: -1 }]) {
      expect((await control('POST', `/sandboxes/${sandbox.sandboxId}/fork`, key, wrong)).status).toBe(400);
    }
    expect(await create({ timeout: -1 })).toMatchObject({ status: 400, body: { code: 400 } });
    expect(await create({ metadata: { 'a b': 'c' } })).toMatchObject({ status: 400 });
    const headers = { ...(await address(sandbox, key)), 'e2b-sandbox-port': '3000' };
    expect((await envd('/health', headers)).status).toBe(502); // nothing serves this port of the sandbox
    expect((await envd('/health', { ...headers, 'e2b-sandbox-port': 'x' })).status).toBe(501);
  });

  it('is audited under the name of the key', async () => {
    await sandbox.commands.run('true');
    expect(platform.audit.entries.at(-1)).toMatchObject({
      action: 'sandbox:exec',
      resource: `sandbox/sbx_${sandbox.sandboxId}`,
      principal: { id: key.principal.id },
    });
  });

  it('serves the data plane, and nothing else, on its own host', async () => {
    const { port } = new URL(platform.url);
    const host = `49983-${sandbox.sandboxId}.sandboxes.localhost`;
    const headers = await address(sandbox, key);
    const ask = async (path: string, more: Readonly<Record<string, string>>) => {
      const asked = request({ host: '127.0.0.1', port, path, headers: { ...more, host } }).end();
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]; // Node.js event
      answer.resume();
      return answer.statusCode;
    };
    const token = { 'x-access-token': headers['x-access-token'] };
    expect(await ask('/health', token)).toBe(204);
    expect(await ask('/health', { ...token, 'e2b-sandbox-id': 'a'.repeat(26) })).toBe(204);
    expect(await ask('/health', {})).toBe(401);
    expect(await ask('/files?path=/etc/passwd', token)).toBe(200);
    for (const path of ['/api/containers', '/e2b/v2/sandboxes', '/']) {
      expect(await ask(path, { authorization: `Bearer ${key.token}` })).toBe(404);
    }
  });
});
