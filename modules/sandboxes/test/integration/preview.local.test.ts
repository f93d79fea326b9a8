import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { backgroundClock } from '@svc/runtime';
import { skippedTitle, type FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { PREVIEW_PROGRAM } from '../support/preview-program.ts';

const reason = localDriverReason();
const title = 'previews of the ports of a real sandbox';

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;
  let laterMs = 0;

  const make = async (port: number, seconds?: number) => {
    const body = { port, ...(seconds === undefined ? {} : { expires_in_seconds: seconds }) };
    const made = await platform.call('POST', `/api/containers/${id}/ports`, { body });
    expect(made.status).toBe(201);
    const url = new URL(made.body['url']);
    return { ...made.body, url, token: url.searchParams.get('svc_preview') ?? '' };
  };
  /** Sends the preview name in `Host` directly to the platform, instead of resolving it. */
  const open = (url: URL, options: { method?: string; headers?: Record<string, string>; body?: Buffer } = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const { port } = new URL(platform.url);
      const asked = httpRequest({
        host: '127.0.0.1',
        port,
        method: options.method ?? 'GET',
        path: url.pathname + url.search,
        headers: { host: url.host, ...options.headers },
        agent: false,
      });
      asked.once('response', resolve).once('error', reject);
      asked.end(options.body);
    });
  const get = async (url: URL, options: Parameters<typeof open>[1] = {}): Promise<Got> => {
    const answer = await open(url, options);
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    return { status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString() };
  };
  const at = (url: URL, path: string): URL => new URL(path + url.search, url);
  const parseCode = ({ status, text }: Got): unknown[] => [status, (JSON.parse(text) as { code: string }).code];
  const webSocket = (url: URL, headers: Record<string, string> = {}): WebSocket => {
    const { port } = new URL(platform.url);
    return new WebSocket(`ws://127.0.0.1:${port}${url.pathname}${url.search}`, {
      headers: { host: url.host, ...headers },
    });
  };

  const nowMs = (): number => Date.now() + laterMs;

  beforeAll(async () => {
    platform = await startPlatform({ clock: { ...backgroundClock, now: () => new Date(nowMs()), nowMs } });
    const body = { image: 'debian', network: 'none' };
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body });
    expect(created.body['status']).toBe('running');
    id = created.body['id'];
    const write = (path: string, content: Buffer, mode: string): Promise<Response> =>
      fetch(`${platform.url}/api/containers/${id}/files?path=${path}&mode=${mode}`, {
        method: 'POST',
        body: content,
        headers: { ...platform.owner.headers, 'content-type': 'application/octet-stream' },
      });
    expect((await write('/srv/node', readFileSync(process.execPath), '755')).status).toBe(201);
    expect((await write('/srv/program.js', Buffer.from(PREVIEW_PROGRAM), '644')).status).toBe(201);
    const command = 'cd /srv && (setsid ./node program.js > log 2>&1 &) ; until grep -q ready log; do sleep 0.1; done';
    expect((await platform.call('POST', `/api/containers/${id}/exec`, { body: { command } })).body['exit_code']).toBe(
      0,
    );
  });
  afterAll(async () => {
    await platform.dispose();
  });

  it('gives each port its own origin, and exchanges the link for a host-only cookie', async () => {
    const { url, token } = await make(8080);
    const { port } = new URL(platform.url);
    expect(url.host).toBe(`8080-${id.slice(4)}.sandboxes.localhost:${port}`);
    const opened = await get(url, { headers: { 'sec-fetch-mode': 'navigate', accept: 'text/html' } });
    expect([opened.status, opened.headers.location]).toEqual([302, `http://${url.host}/`]);
    const cookie = opened.headers['set-cookie']?.[0] ?? '';
    expect(cookie).toMatch(/^svc_preview=[\w-]+; Path=\/; Max-Age=3\d\d\d; HttpOnly; SameSite=Lax$/);
    const page = await get(new URL('/', url), { headers: { cookie: cookie.split(';')[0] ?? '' } });
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('<title>app</title>')]);
    // Programs keep no cookies, so the link works at every path.
    const direct = await get(at(url, '/headers'));
    expect(direct.headers['set-cookie']).toEqual([expect.stringContaining(`svc_preview=${token};`), 'app=1; Path=/']);
    expect(JSON.parse(direct.text)).toMatchObject({ url: '/headers' });
  });

  it("forwards the program's headers, but no platform or hop-by-hop headers", async () => {
    const { url } = await make(8080);
    const headers = {
      authorization: platform.owner.headers['authorization'] ?? '',
      cookie: 'app=1; svc_session=secret; __Host-svc_session=secret; svc_preview=x',
      connection: 'close, x-hop',
      'x-hop': '1',
      'proxy-authorization': 'Basic eDp5',
      'x-forwarded-for': '8.8.8.8',
      'x-forwarded-proto': 'https',
      'x-csrf-token': 'secret',
      'x-own': 'kept',
    };
    const told = await get(new URL(`/headers?a=%20b&svc_preview=${url.searchParams.get('svc_preview')}&c`, url), {
      headers,
    });
    const seen = JSON.parse(told.text) as { url: string; headers: Record<string, string> };
    expect(seen.url).toBe('/headers?a=%20b&c');
    expect(seen.headers).toEqual({
      host: url.host,
      cookie: 'app=1',
      connection: 'close',
      'x-own': 'kept',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': url.host,
      'x-forwarded-port': url.port,
      'x-forwarded-proto': 'http',
    });
    expect(told.headers).not.toHaveProperty('x-private');
    expect(told.headers).not.toHaveProperty('clear-site-data');
    const own = await get(at(url, '/headers'), { headers: { authorization: 'Bearer of-the-app' } });
    expect(JSON.parse(own.text)).toMatchObject({ headers: { authorization: 'Bearer of-the-app' } });
  });

  it('streams in both directions, as data arrives and regardless of size', async () => {
    const { url } = await make(8080);
    const bytes = randomBytes(20 << 20);
    const echoed = await open(at(url, '/echo'), { method: 'POST', body: bytes });
    const hash = createHash('sha256');
    for await (const chunk of echoed) hash.update(chunk as Buffer);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
    const events = await open(at(url, '/events'));
    const [first] = (await once(events, 'data')) as [Buffer];
    expect(first.toString()).toContain('data: one');
    events.destroy();
    expect((await get(at((await make(8081)).url, '/'))).text).toBe('on six');
  });

  it('forwards WebSockets, and refuses those of other origins', async () => {
    const { url } = await make(8080);
    const socket = webSocket(at(url, '/socket'));
    await once(socket, 'open');
    socket.send('hello');
    const [data] = (await once(socket, 'message')) as [Buffer];
    expect(data.toString()).toBe('hello');
    socket.close();
    await once(socket, 'close');
    const cookie = `svc_preview=${url.searchParams.get('svc_preview')}`;
    const refused = webSocket(new URL('/socket', url), { cookie, origin: 'http://8080-other.sandboxes.localhost' });
    const [, answer] = (await once(refused, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(answer.statusCode).toBe(403);
    answer.destroy();
    const own = webSocket(new URL('/socket', url), { cookie, origin: `http://${url.host}` });
    await once(own, 'open');
    own.terminate();
    const unwilling = webSocket(at(url, '/elsewhere'));
    const [, no] = (await once(unwilling, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(no.statusCode).toBe(403);
    no.destroy();
    const page = await get(new URL('/headers', url), {
      headers: { cookie, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
    });
    expect(parseCode(page)).toEqual([403, 'ORIGIN_REFUSED']);
  });

  it('serves the path form with an opaque origin and without cookies', async () => {
    const { token } = await make(8080);
    const url = new URL(`/preview/${token}/headers?x=1`, platform.url);
    const told = await get(url, { headers: { cookie: 'svc_session=secret; app=1', origin: 'null' } });
    expect(told.status).toBe(200);
    expect(told.headers['content-security-policy']).toContain('sandbox allow-');
    expect(told.headers['content-security-policy']).not.toContain('allow-same-origin');
    expect(told.headers).not.toHaveProperty('set-cookie');
    expect(told.headers['access-control-allow-origin']).toBe('null');
    const seen = JSON.parse(told.text) as { url: string; headers: Record<string, string> };
    expect(seen).toMatchObject({ url: '/headers?x=1', headers: { 'x-forwarded-prefix': `/preview/${token}` } });
    expect(seen.headers).not.toHaveProperty('cookie');
    expect((await get(new URL(`/preview/${token}`, platform.url))).headers.location).toBe(`/preview/${token}/`);
    const gadget = await get(url, { headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'script' } });
    expect(parseCode(gadget)).toEqual([403, 'ORIGIN_REFUSED']);
  });

  it('refuses links that are forged, expired, revoked or for another port or sandbox', async () => {
    const { url, token } = await make(8080);
    const bare = new URL('/', url);
    expect(parseCode(await get(bare))).toEqual([401, 'PREVIEW_REFUSED']);
    // Not the last character, whose low bits do not count.
    const forged = token.slice(0, -2) + (token.at(-2) === 'A' ? 'B' : 'A') + token.slice(-1);
    for (const wrong of ['', 'x', forged, token.replace('-8080-', '-8081-')]) {
      expect(parseCode(await get(new URL(`/?svc_preview=${wrong}`, url)))).toEqual([401, 'PREVIEW_REFUSED']);
      if (wrong !== '') expect((await get(new URL(`/preview/${wrong}/`, platform.url))).status).toBe(401);
    }
    const otherPort = new URL(url.href.replace('//8080-', '//8081-'));
    expect(parseCode(await get(otherPort))).toEqual([401, 'PREVIEW_REFUSED']);
    const otherSandbox = new URL(url.href.replace(id.slice(4), 'a'.repeat(26)));
    expect(parseCode(await get(otherSandbox))).toEqual([401, 'PREVIEW_REFUSED']);
    const brief = await make(8080, 60);
    expect((await get(at(brief.url, '/headers'))).status).toBe(200);
    laterMs = 61_000;
    const late = await get(at(brief.url, '/headers'));
    laterMs = 0;
    expect([...parseCode(late), late.text]).toEqual([401, 'PREVIEW_REFUSED', expect.stringContaining('expired')]);
    for (const host of ['sandboxes.localhost', 'www.sandboxes.localhost', `0-${id.slice(4)}.sandboxes.localhost`]) {
      expect((await get(new URL(`http://${host}/api/containers`))).status).toBe(404);
    }
  });

  it('lists links, and closes open connections of revoked ones', async () => {
    await platform.call('DELETE', `/api/containers/${id}/ports`);
    const { url } = await make(8080);
    await make(9000);
    const listed = await platform.call('GET', `/api/sandboxes/${id}/ports`);
    expect(listed.body).toMatchObject({
      count: 2,
      ports: expect.arrayContaining([expect.objectContaining({ port: 8080 })]),
    });
    expect(JSON.stringify(listed.body)).not.toContain('svc_pvw_');
    const socket = webSocket(at(url, '/socket'));
    await once(socket, 'open');
    const closed = once(socket, 'close');
    expect((await platform.call('DELETE', `/api/containers/${id}/ports/8080`)).body).toEqual({ revoked: 1 });
    expect((await closed)[0]).toBe(1006);
    expect((await get(url)).status).toBe(401);
    expect((await platform.call('DELETE', `/api/containers/${id}/ports/8080`)).status).toBe(404);
    expect((await platform.call('DELETE', `/api/containers/${id}/ports`)).body).toEqual({ revoked: 1 });
  });

  it("ends when the link expires or its creator's credential is revoked", async () => {
    const team = platform.access.team(platform.owner.workspaceUuid);
    for (const take of [platform.access.revoke, (caller: FakeCaller) => platform.access.leave(team, caller)]) {
      const member = platform.access.user('member');
      platform.access.join(team, member, 'member');
      const scope = `workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
      const path = `/api/containers/${id}/ports?${scope}`;
      const { body } = await platform.call('POST', path, { caller: member, body: { port: 8080 } });
      const url = new URL(body['url']);
      const events = await open(at(url, '/events'));
      await once(events, 'data');
      const socket = webSocket(at(url, '/socket'));
      await once(socket, 'open');
      const cut = Promise.allSettled([once(events, 'end'), once(socket, 'close')]);
      take(member);
      expect(await cut).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled' }]);
      expect(parseCode(await get(url))).toEqual([401, 'PREVIEW_REFUSED']);
    }
    const brief = platform.access.user('brief');
    platform.access.join(team, brief, 'member');
    Object.assign(brief.principal, { expiresAt: '2000-01-01T00:00:00.000Z' });
    const path = `/api/containers/${id}/ports?workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
    const { body } = await platform.call('POST', path, { caller: brief, body: { port: 8080 } });
    expect(body['expires_at']).toBe('2000-01-01T00:00:00.000Z');
  });

  it('reports why a port gave no response: no listener, no HTTP, partial data, or a stopped sandbox', async () => {
    const silent = await get(at((await make(7777)).url, '/'));
    expect([...parseCode(silent), silent.text]).toEqual([502, 'PORT_UNREACHABLE', expect.stringContaining('refused')]);
    const { url } = await make(8080);
    expect(parseCode(await get(at(url, '/nonsense')))).toEqual([502, 'PORT_UNREACHABLE']);
    await expect(get(at(url, '/cut'))).rejects.toThrow();
    await platform.call('POST', `/api/containers/${id}/stop`);
    expect(parseCode(await get(url))).toEqual([409, 'SANDBOX_NOT_RUNNING']);
    await platform.call('DELETE', `/api/containers/${id}`);
    expect((await get(url)).status).toBe(404);
  });
});
