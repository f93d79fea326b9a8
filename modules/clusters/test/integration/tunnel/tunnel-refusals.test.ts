import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { dialMux, MUX_CODES, MuxSession } from '@svc/mux';
import { SANDBOXES_SERVICE, TUNNEL_CLOSE_CODES } from '@svc/protocol';
import { waitFor, type FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRig, type Rig } from '../../support/rig.ts';

let rig: Rig;
let cluster: { id: string; name: string; token: string };
let teamUuid: string;
const sessions: MuxSession[] = [];

beforeAll(async () => {
  rig = await startRig({ config: { connects_per_minute: 1000 } });
  cluster = await rig.addCluster();
  teamUuid = rig.access.team(rig.owner.workspaceUuid);
});
afterAll(async () => {
  for (const session of sessions) session.close();
  await rig.close();
});

async function connectAgent(token: string, clusterId: string, prefer: 'raw' | 'websocket' = 'raw') {
  const { transport, kind } = await dialMux({
    url: new URL(`${rig.url}/v1/agent/tunnel`),
    headers: { authorization: `Bearer ${token}`, 'x-cluster-id': clusterId },
    timeoutMs: 5000,
    signal: new AbortController().signal,
    prefer,
  });
  const session = new MuxSession(transport, { role: 'client', onStream: (stream) => stream.reset(300) });
  sessions.push(session);
  return { session, kind };
}

/** The four ways to a service: on the cluster's host and below our path, as a request and as an upgrade. */
const WAYS = [
  { name: 'a request on the host', path: () => '/web/x', host: () => `tunnel-${cluster.id}.localhost`, upgrade: null },
  { name: 'an upgrade on the host', path: () => '/web/x', host: () => `tunnel-${cluster.id}.localhost`, upgrade: 'a' },
  {
    name: 'a request below the path',
    path: () => `/v1/clusters/${cluster.id}/tunnel/web/x`,
    host: () => 'a',
    upgrade: null,
  },
  {
    name: 'an upgrade below the path',
    path: () => `/v1/clusters/${cluster.id}/tunnel/web/x`,
    host: () => 'a',
    upgrade: 'a',
  },
  {
    name: 'a raw forward',
    path: () => `/v1/clusters/${cluster.id}/forward/web`,
    host: () => 'a',
    upgrade: 'svc-mux/1',
  },
] as const;

async function ask(
  way: (typeof WAYS)[number],
  headers: Record<string, string>,
): Promise<{ status: number; code: string }> {
  const upgrade = way.upgrade === null ? {} : { connection: 'Upgrade', upgrade: way.upgrade };
  const outgoing = httpRequest({
    host: '127.0.0.1',
    port: rig.port,
    path: way.path(),
    agent: false,
    headers: { host: way.host(), ...headers, ...upgrade },
  });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const body = JSON.parse(await text(response)) as { error: { code: string } }; // the contract's body
  return { status: response.statusCode ?? 0, code: body.error.code };
}

describe.each(WAYS)('$name', (way) => {
  it('returns 401 without a token and with a wrong one', async () => {
    for (const headers of [{}, { authorization: 'Bearer nonsense' }, { authorization: `Bearer ${cluster.token}` }]) {
      expect(await ask(way, headers)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    }
  });

  it('returns 404 to a stranger, as for an unknown cluster', async () => {
    const stranger = rig.access.user('stranger');
    expect(await ask(way, stranger.headers)).toMatchObject({ status: 404, code: 'CLUSTER_NOT_FOUND' });
    const withTeam = { ...stranger.headers, 'x-team-uuid': teamUuid };
    expect([403, 404]).toContain((await ask(way, withTeam)).status);
  });

  it('returns 403 to a read-only caller', async () => {
    const member: FakeCaller = rig.access.user('guest');
    rig.access.join(teamUuid, member, 'guest');
    expect(await ask(way, { ...member.headers, 'x-team-uuid': teamUuid })).toMatchObject({ status: 403 });
    const reader = rig.access.serviceAccount(rig.owner.workspaceUuid, ['read']);
    expect(await ask(way, reader.headers)).toMatchObject({ status: 403 });
  });

  it('does not lead to the service for sandboxes', async () => {
    const sandboxes = { ...way, path: () => way.path().replace('web', SANDBOXES_SERVICE) };
    expect(await ask(sandboxes as typeof way, rig.owner.headers)).toEqual({ status: 404, code: 'FORWARD_NOT_FOUND' });
  });

  it('returns 503 to a member while there is no tunnel', async () => {
    const member = rig.access.user('member');
    rig.access.join(teamUuid, member, 'member');
    const headers = { ...member.headers, 'x-team-uuid': teamUuid };
    expect(await ask(way, headers)).toMatchObject({ status: 503, code: 'AGENT_OFFLINE' });
  });
});

describe('the tunnel of an agent', () => {
  it('requires its token, its own cluster id, and a known upgrade', async () => {
    const other = await rig.addCluster('other');
    await expect(connectAgent('svc_agt_nonsense', cluster.id)).rejects.toMatchObject({ status: 401 });
    await expect(connectAgent(rig.owner.token, cluster.id)).rejects.toMatchObject({ status: 401 });
    await expect(connectAgent(cluster.token, other.id)).rejects.toMatchObject({ status: 403 });
    const headers = { authorization: `Bearer ${cluster.token}`, 'x-cluster-id': cluster.id };
    const socket = connect(rig.port, '127.0.0.1');
    const lines = Object.entries({ ...headers, host: 'a', connection: 'Upgrade', upgrade: 'h3' });
    socket.write(
      `GET /v1/agent/tunnel HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('accepts a raw socket and a WebSocket, and keeps the newest', async () => {
    const first = await connectAgent(cluster.token, cluster.id);
    expect(first.kind).toBe('raw');
    const second = await connectAgent(cluster.token, cluster.id, 'websocket');
    expect(second.kind).toBe('websocket');
    expect(await first.session.closed).toMatchObject({ resetCode: TUNNEL_CLOSE_CODES.replaced, remote: true });
    expect(await ask(WAYS[0], rig.owner.headers)).toEqual({ status: 404, code: 'FORWARD_NOT_FOUND' });
  });

  it('lets the agent open no stream', async () => {
    const { session } = await connectAgent(cluster.token, cluster.id);
    const stream = session.open(Buffer.from('{"service":"kubernetes","user":"svc:user:x","role":"owner"}'));
    await expect(once(stream, 'close')).rejects.toMatchObject({ resetCode: MUX_CODES.REFUSED });
    expect(session.acceptsStreams).toBe(true);
  });

  it('ends when its token is rotated or its cluster is removed', async () => {
    const doomed = await rig.addCluster('doomed');
    const { session } = await connectAgent(doomed.token, doomed.id);
    const { body } = await rig.call('POST', '/v1/clusters/doomed/token', { body: { overlap_seconds: 0 } });
    expect(await session.closed).toMatchObject({ resetCode: TUNNEL_CLOSE_CODES.unauthorized });
    const next = await connectAgent(String(body['token']), doomed.id);
    await rig.call('DELETE', '/v1/clusters/doomed');
    expect(await next.session.closed).toMatchObject({ resetCode: TUNNEL_CLOSE_CODES.forbidden });
  });

  it('is reported if another replica holds it', async () => {
    const far = await rig.addCluster('far');
    const later = new Date(Date.now() + 60_000).toISOString();
    await rig.stores.tunnelStore.open(far.id, 'replica-2', new Date().toISOString(), later);
    const answer = await fetch(`${rig.url}/v1/clusters/${far.id}/tunnel/web/x`, { headers: rig.owner.headers });
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      error: { code: 'AGENT_OFFLINE', details: { reason: 'its tunnel is at replica replica-2 of the platform' } },
    });
  });
});

describe('a hostile agent', () => {
  it('loses only its own connection when it sends garbage', async () => {
    const good = await connectAgent(cluster.token, cluster.id);
    const evil = await rig.addCluster('evil');
    const socket = connect(rig.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      `GET /v1/agent/tunnel HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: svc-mux/1\r\n` +
        `Authorization: Bearer ${evil.token}\r\nX-Cluster-ID: ${evil.id}\r\n\r\n`,
    );
    await once(socket, 'data');
    socket.write(Buffer.from('ffffffffffffffffffffffffffffffff', 'hex'));
    await once(socket.resume(), 'close');
    await waitFor(async () => (await rig.stores.tunnelStore.holder(evil.id, new Date().toISOString())) === null);
    expect(good.session.acceptsStreams).toBe(true);
    expect(await ask(WAYS[0], rig.owner.headers)).toMatchObject({ status: 404 });
  });

  it('causes a 502 when it responds with invalid HTTP or an endless head', async () => {
    const { transport } = await dialMux({
      url: new URL(`${rig.url}/v1/agent/tunnel`),
      headers: { authorization: `Bearer ${cluster.token}`, 'x-cluster-id': cluster.id },
      timeoutMs: 5000,
      signal: new AbortController().signal,
    });
    const answers = ['\0\0 no HTTP\r\n\r\n', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}`];
    let given = 0;
    const session = new MuxSession(transport, {
      role: 'client',
      onStream: (stream) => {
        stream.resume().write(Buffer.from(answers[given] ?? ''));
        given += 1;
      },
    });
    sessions.push(session);
    for (const count of [1, 2]) {
      // The platform uses the tunnel a little later than it accepts it.
      const answer = await waitFor(async () => {
        const received = await ask(WAYS[0], rig.owner.headers);
        return given >= count ? received : null;
      });
      expect(answer).toEqual({ status: 502, code: 'TUNNEL_BACKEND_UNREACHABLE' });
    }
    expect(given).toBe(answers.length);
  });
});
