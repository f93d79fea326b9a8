import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { skippedTitle, waitFor, type FakeCaller } from '@svc/testing';
import { Sandbox, type SandboxOpts } from 'e2b';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'ports of sandboxes of E2B clients';
const PORT = 8080;
const TRAFFIC_TOKEN = 'e2b-traffic-access-token';

/** Answers each request with its own head. */
const PROGRAM = `#!/bin/sh
head=""
while read -r line; do line=$(printf %s "$line" | tr -d '\\r'); [ -z "$line" ] && break; head="$head$line|"; done
printf 'HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n%s' \${#head} "$head"
`;

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  const options = (token = platform.owner.token) => ({
    apiUrl: `${platform.url}/e2b`,
    sandboxUrl: `${platform.url}/e2b/envd`,
    apiKey: token,
    validateApiKey: false,
  });
  const serving = async (more: Partial<SandboxOpts> = {}, token?: string) => {
    const sandbox = await Sandbox.create('busybox', { ...options(token), ...more });
    await sandbox.files.write('answer', PROGRAM);
    const serve = `chmod +x answer; nc -ll -p ${PORT} -e ./answer`;
    await sandbox.commands.run(serve, { background: true, timeoutMs: 0 });
    return sandbox;
  };
  /** Sends the host in `Host` to the platform, instead of resolving it. */
  const ask = async (host: string, headers: Readonly<Record<string, string>> = {}) => {
    const { port } = new URL(platform.url);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, headers: { ...headers, host }, agent: false });
      asked.once('response', resolve).once('error', reject).end();
    });
    return { status: answer.statusCode, body: await text(answer) };
  };
  const listening = (sandbox: Sandbox, headers: Readonly<Record<string, string>> = {}) =>
    waitFor(async () => (await ask(sandbox.getHost(PORT), headers)).status === 200);

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox' });
  });
  afterAll(() => platform.dispose());

  it('are public by default, until the links of the sandbox are revoked', async () => {
    const sandbox = await serving();
    const { port } = new URL(platform.url);
    expect(sandbox.getHost(PORT)).toBe(`${PORT}-${sandbox.sandboxId}.sandboxes.localhost:${port}`);
    expect(sandbox.trafficAccessToken).toBeUndefined();
    await listening(sandbox);
    expect((await ask(sandbox.getHost(PORT + 1))).status).toBe(502);
    const path = `/api/containers/sbx_${sandbox.sandboxId}/ports`;
    const url = `http://{port}-${sandbox.sandboxId}.sandboxes.localhost:${port}/`;
    expect((await platform.call('GET', path)).body).toEqual({ ports: [], count: 0, public: true, url });
    expect((await platform.call('DELETE', path)).body).toEqual({ revoked: 1 });
    expect((await platform.call('GET', path)).body).toMatchObject({ public: false });
    expect((await ask(sandbox.getHost(PORT))).status).toBe(403);
    const again = await Sandbox.connect(sandbox.sandboxId, options());
    expect((await ask(again.getHost(PORT), { [TRAFFIC_TOKEN]: again.trafficAccessToken ?? '' })).status).toBe(200);
    await sandbox.kill();
  });

  it('are also named by headers, without a cookie or the token of the data plane', async () => {
    const sandbox = await serving({ network: { allowPublicTraffic: false } });
    const traffic = { [TRAFFIC_TOKEN]: sandbox.trafficAccessToken ?? '' };
    await listening(sandbox, traffic);
    const { host } = new URL(platform.url);
    const named = { 'e2b-sandbox-id': sandbox.sandboxId, 'e2b-sandbox-port': String(PORT) };
    const byHeader = (headers: Readonly<Record<string, string>>) =>
      fetch(`${platform.url}/e2b/envd/some/path?a=b`, { headers });
    const answer = await byHeader({ ...named, ...traffic, 'x-access-token': 'secret', cookie: 'session=secret' });
    const head = await answer.text();
    expect(answer.status).toBe(200);
    expect(head).toContain('GET /some/path?a=b HTTP/1.1|');
    expect(head).not.toContain('secret');
    expect(head).not.toContain(host);
    expect((await byHeader(named)).status).toBe(403);
    expect((await byHeader({ ...named, ...traffic, 'e2b-sandbox-port': '70000' })).status).toBe(404);
    await sandbox.kill();
  });

  it('show programs another host if their creator wants that', async () => {
    const maskRequestHost = 'app.example.com:${PORT}';
    const sandbox = await serving({ network: { maskRequestHost } });
    await listening(sandbox);
    const host = sandbox.getHost(PORT);
    const { body } = await ask(host);
    expect(body).toContain(`|Host: app.example.com:${PORT}|`);
    expect(body).toContain(`x-forwarded-host: ${host}|`);
    expect((await sandbox.getInfo()).network).toMatchObject({ maskRequestHost });
    for (const wrong of ['a b', 'a/b', '${PATH}', 'a\r\nx: y', '']) {
      const body = { templateID: 'busybox', network: { maskRequestHost: wrong } };
      expect((await platform.call('POST', '/e2b/sandboxes', { body })).status, wrong).toBe(400);
    }
    await sandbox.kill();
  });

  it('need the traffic token if their creator wants that; the program does not see it', async () => {
    const sandbox = await serving({ network: { allowPublicTraffic: false } });
    const host = sandbox.getHost(PORT);
    const token = sandbox.trafficAccessToken ?? '';
    await listening(sandbox, { [TRAFFIC_TOKEN]: token });
    const { body } = await ask(host, { [TRAFFIC_TOKEN]: token, 'x-mine': 'passes' });
    expect(body).toContain('x-mine: passes|');
    expect(body).not.toContain(token);
    const other = await Sandbox.create('busybox', { ...options(), network: { allowPublicTraffic: false } });
    const refused = { status: 403, body: expect.stringContaining('PORT_REFUSED') };
    expect(await ask(host)).toEqual(refused);
    const { envdAccessToken } = (await platform.call('GET', `/e2b/sandboxes/${sandbox.sandboxId}`)).body;
    for (const wrong of ['', 'x', other.trafficAccessToken ?? '', String(envdAccessToken), platform.owner.token]) {
      expect(await ask(host, { [TRAFFIC_TOKEN]: wrong }), wrong).toEqual(refused);
    }
    const envd = await fetch(`${platform.url}/e2b/envd/health`, {
      headers: { 'e2b-sandbox-id': sandbox.sandboxId, 'x-access-token': token },
    });
    expect(envd.status).toBe(401);
    await other.kill();
    await sandbox.kill();
  });

  it('close when the key that asked for them is revoked', async () => {
    const key = platform.access.serviceAccount(platform.owner.workspaceUuid, ['write']);
    const open = await serving({}, key.token);
    const closed = await serving({ network: { allowPublicTraffic: false } }, key.token);
    const headers = { [TRAFFIC_TOKEN]: closed.trafficAccessToken ?? '' };
    await listening(open);
    await listening(closed, headers);
    platform.access.revoke(key);
    expect((await ask(open.getHost(PORT))).status).toBe(403);
    expect((await ask(closed.getHost(PORT), headers)).status).toBe(403);
    for (const { sandboxId } of [open, closed]) await Sandbox.kill(sandboxId, options());
  });

  it('of sandboxes that E2B clients did not create need a link, unless somebody opens them', async () => {
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body: { image: 'busybox' } });
    const id = String(created.body['id']);
    const host = `${PORT}-${id.slice('sbx_'.length)}.sandboxes.localhost`;
    expect((await ask(host)).status).toBe(401);
    const path = `/api/containers/${id}/ports`;
    const put = (isPublic: unknown, caller?: FakeCaller) =>
      platform.call('PUT', path, { body: { public: isPublic }, ...(caller && { caller }) });
    const url = `http://{port}-${id.slice('sbx_'.length)}.sandboxes.localhost:${new URL(platform.url).port}/`;
    const key = platform.access.serviceAccount(platform.owner.workspaceUuid, ['write']);
    expect(await put(true, key)).toMatchObject({ status: 200, body: { public: true, url } });
    expect((await ask(host)).status).toBe(502); // nothing listens there
    expect((await platform.call('GET', path)).body).toMatchObject({ count: 0, public: true, url });
    platform.access.revoke(key);
    expect((await ask(host)).status).toBe(401);
    expect((await put(true)).status).toBe(200);
    expect((await ask(host)).status).toBe(502);
    const link = await platform.call('POST', path, { body: { port: PORT } });
    expect((await put(false)).body).toMatchObject({ public: false });
    expect((await ask(host)).status).toBe(401);
    expect((await platform.call('GET', path)).body).toMatchObject({ public: false, ports: [{ id: link.body['id'] }] });
    const reader = platform.access.serviceAccount(platform.owner.workspaceUuid, ['read']);
    expect((await put(true, reader)).status).toBe(403);
    expect((await put(true, platform.access.user('stranger'))).status).toBe(404);
    expect((await put('yes')).status).toBe(400);
    await platform.call('DELETE', `/api/containers/${id}`);
  });

  it('answer 502 once the sandbox is gone', async () => {
    const sandbox = await serving();
    const host = sandbox.getHost(PORT);
    await listening(sandbox);
    await sandbox.kill();
    const gone = { sandboxId: sandbox.sandboxId, message: 'The sandbox was not found', code: 502 };
    const { status, body } = await ask(host);
    expect([status, JSON.parse(body)]).toEqual([502, gone]);
  });

  it('continue a paused sandbox only if its creator wanted that', async () => {
    const waking = await serving({ lifecycle: { onTimeout: 'pause', autoResume: true } });
    const sleeping = await serving({ lifecycle: { onTimeout: 'pause' } });
    for (const each of [waking, sleeping]) {
      await listening(each);
      await each.pause();
    }
    expect((await ask(waking.getHost(PORT))).status).toBe(200);
    expect((await waking.getInfo()).state).toBe('running');
    expect((await ask(sleeping.getHost(PORT))).status).toBe(502);
    expect((await sleeping.getInfo()).state).toBe('paused');
    await waking.kill();
    await sleeping.kill();
  });
});
