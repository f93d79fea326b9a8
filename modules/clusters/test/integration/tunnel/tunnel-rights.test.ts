import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { dialMux, MuxSession } from '@svc/mux';
import { TUNNEL_CLOSE_CODES } from '@svc/protocol';
import { waitFor, type FakeCaller } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { PlayedKubernetes } from '../../support/played-kubernetes.ts';
import { startRig, type Rig } from '../../support/rig.ts';
import { serviceHost } from '../../../src/routes/tunnel/tunnel-address.ts';

const POD = { metadata: { name: 'web-1' }, spec: { containers: [{ name: 'main' }] } };
const LONG_SERVICE = `${'monitoring-'.repeat(5)}web`;

let rig: Rig;
let cluster: { id: string; name: string; token: string };
let played: PlayedKubernetes;
let teamUuid: string;
let member: FakeCaller;
/** The services' ends: what is written here must not arrive once the right is gone. */
const insides: WebSocket[] = [];
const closers: (() => void)[] = [];

beforeAll(async () => {
  rig = await startRig({ config: { connects_per_minute: 1000 }, publicUrl: 'http://127.0.0.1:4000' });
  cluster = await rig.addCluster();
  teamUuid = rig.access.team(rig.owner.workspaceUuid);
  played = await PlayedKubernetes.connect(rig, cluster, {
    answer: ({ pathname }) => ({ body: POD, endless: pathname.endsWith('/watch') }),
    exec: (socket) => insides.push(socket),
  });
});
beforeEach(() => {
  member = rig.access.user('member');
  rig.access.join(teamUuid, member, 'member');
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
  insides.length = 0;
});
afterAll(async () => {
  await played.close();
  await rig.close();
});

/** A caller's view of a channel: how it ended, and whether data arrived after the platform announced the end. */
interface Channel {
  readonly ended: Promise<string>;
}

const teamHeaders = (): Record<string, string> => ({ ...member.headers, 'x-team-uuid': teamUuid });
const scope = (): string => `workspace_uuid=${rig.owner.workspaceUuid}&team_uuid=${teamUuid}`;

async function send(host: string, path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const outgoing = httpRequest({
    host: '127.0.0.1',
    port: rig.port,
    path,
    agent: false,
    headers: { host, ...headers },
  });
  closers.push(() => outgoing.destroy());
  outgoing.on('error', () => undefined).end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]; // Node's event
  return response;
}

async function watch(host: string, path: string, headers: Record<string, string>): Promise<Channel> {
  const response = await send(host, path, headers);
  expect(response.statusCode).toBe(200);
  await once(response, 'data');
  return { ended: once(response, 'error').then(([error]) => String(error)) };
}

async function socket(host: string, path: string, headers: Record<string, string>): Promise<Channel> {
  const client = new WebSocket(`ws://127.0.0.1:${rig.port}${path}`, { headers: { host, ...headers } });
  closers.push(() => client.terminate());
  client.on('error', () => undefined);
  await once(client, 'open');
  await waitFor(() => insides.length > 0);
  return { ended: once(client, 'close').then(([code]) => String(code)) };
}

async function makeLink(service = 'web', caller: FakeCaller = member): Promise<URL> {
  const path = `/v1/clusters/production/tunnel-links?${scope()}`;
  const { status, body } = await rig.call('POST', path, { caller, body: { service } });
  expect(status).toBe(201);
  return new URL(String(body['url']));
}

async function fetchCookie(url: URL): Promise<Record<string, string>> {
  const response = await send(url.host, `${url.pathname}${url.search}`, {});
  expect(response.statusCode).toBe(303);
  return { cookie: response.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '' };
}

const below = (): string => `/v1/clusters/${cluster.id}/tunnel/web`;
const host = (): string => serviceHost(cluster.id, 'web', 'localhost');

/** Every channel of this module that stays open. */
const CHANNELS: Readonly<Record<string, () => Promise<Channel>>> = {
  'a request below the path': () => watch('a', `${below()}/watch`, teamHeaders()),
  'a request on the host of the service': () => watch(host(), '/watch', teamHeaders()),
  'a request on the host of the cluster': () => watch(`tunnel-${cluster.id}.localhost`, '/web/watch', teamHeaders()),
  'an upgrade below the path': () => socket('a', `${below()}/exec`, teamHeaders()),
  'an upgrade on the host of the service': () => socket(host(), '/exec', teamHeaders()),
  'a request by a link': async () => watch(host(), '/watch', await fetchCookie(await makeLink())),
  'an upgrade by a link': async () => socket(host(), '/exec', await fetchCookie(await makeLink())),
  'a shell': () => socket('a', `/v1/clusters/production/shell?namespace=shop&pod=web-1&${scope()}`, member.headers),
  'a forward': async () => {
    const { transport } = await dialMux({
      url: new URL(`${rig.url}/v1/clusters/${cluster.id}/forward/web`),
      headers: teamHeaders(),
      timeoutMs: 5000,
      signal: new AbortController().signal,
    });
    const session = new MuxSession(transport, { role: 'client', onStream: (stream) => stream.reset(300) });
    closers.push(() => session.close());
    return { ended: session.closed.then((end) => String(end?.resetCode)) };
  },
};

const WAYS: Readonly<Record<string, { take: () => void; status: number }>> = {
  'the token was revoked': { take: () => rig.access.revoke(member), status: 401 },
  'the member was removed': { take: () => rig.access.leave(teamUuid, member), status: 403 },
  'the role was lowered': { take: () => rig.access.join(teamUuid, member, 'guest'), status: 403 },
};

function expectedEnd(channel: string, status: number): RegExp {
  if (channel === 'a shell') return /^4003$/;
  const { unauthorized, forbidden } = TUNNEL_CLOSE_CODES;
  if (channel === 'a forward') return new RegExp(`^${status === 401 ? unauthorized : forbidden}$`);
  return channel.startsWith('an upgrade') ? /^1006$/ : /aborted/; // cut: only the service could close it properly
}

describe.each(Object.keys(WAYS))('when %s', (way) => {
  it.each(Object.keys(CHANNELS))('ends %s', async (name) => {
    const channel = await CHANNELS[name]?.();
    const { take, status } = WAYS[way] ?? { take: () => undefined, status: 0 };
    take();
    expect(await channel?.ended).toMatch(expectedEnd(name, status));
  });

  it('rejects an unused link and its cookie', async () => {
    const [unused, used] = [await makeLink(), await makeLink()];
    const cookie = await fetchCookie(used);
    WAYS[way]?.take();
    expect((await send(unused.host, `/${unused.search}`, {})).statusCode).toBe(401);
    // A decision may be remembered for up to a second.
    await waitFor(async () => (await send(used.host, '/x', cookie)).statusCode === 401);
  });
});

describe('the host of a service', () => {
  it('is a separate origin for each service, with a host-only cookie', async () => {
    const [web, other] = [await makeLink('web'), await makeLink('other')];
    expect(web.hostname).toBe(`tunnel-${cluster.id}-web.localhost`);
    expect(other.hostname).not.toBe(web.hostname);
    const response = await send(web.host, `${web.pathname}${web.search}`, {});
    expect(response.headers['set-cookie']?.[0]).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
    const cookie = { cookie: response.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '' };
    expect((await send(web.host, '/x', cookie)).statusCode).toBe(200);
    expect((await send(other.host, '/x', cookie)).statusCode).toBe(401);
  });

  it("rejects its cookie on subresource requests from another service's page", async () => {
    const cookie = await fetchCookie(await makeLink());
    const asked = { ...cookie, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' };
    expect((await send(host(), '/x', asked)).statusCode).toBe(403);
    expect((await send(host(), '/x', { ...asked, 'sec-fetch-mode': 'navigate' })).statusCode).toBe(200);
    expect((await send(host(), '/x', { ...asked, 'sec-fetch-site': 'same-origin' })).statusCode).toBe(200);
  });

  it("has a first label of at most 63 characters, whatever the service's name", async () => {
    const url = await makeLink(LONG_SERVICE);
    expect(url.hostname.split('.', 1)[0]?.length).toBeLessThanOrEqual(63);
    expect(url.hostname).not.toBe(serviceHost(cluster.id, `${LONG_SERVICE}2`, 'localhost'));
    expect((await send(url.host, '/x', await fetchCookie(url))).statusCode).toBe(200);
    expect(played.callers.at(-1)?.service).toBe(LONG_SERVICE);
  });

  it("is where the cluster's host redirects browsers, without accepting a cookie", async () => {
    const shared = `tunnel-${cluster.id}.localhost:4000`;
    const moved = await send(shared, '/web/a?b=1', { 'sec-fetch-mode': 'navigate' });
    expect(moved).toMatchObject({ statusCode: 308, headers: { location: `http://${host()}:4000/a?b=1` } });
    const cookie = await fetchCookie(await makeLink());
    expect((await send(shared, '/web/a', cookie)).statusCode).toBe(401);
    const page = await send(shared, '/web/a', teamHeaders());
    expect(page.statusCode).toBe(200);
    expect(page.headers['content-security-policy']).toBe('sandbox');
    await text(page);
  });
});

describe('a tunnel link', () => {
  it('expires no later than the token that created it', async () => {
    const expiresAt = new Date(Date.now() + 120_000).toISOString();
    Object.assign(member.principal, { expiresAt });
    const path = `/v1/clusters/production/tunnel-links?${scope()}`;
    const { body } = await rig.call('POST', path, { caller: member, body: { service: 'web' } });
    expect(body['expires_at']).toBe(expiresAt);
  });
});
