import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { EXEC_CHANNELS } from '@svc/kube/values';
import { dialMux, MuxSession } from '@svc/mux';
import { TUNNEL_CLOSE_CODES } from '@svc/protocol';
import { waitFor, type FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { PlayedKubernetes } from '../support/played-kubernetes.ts';
import { startRig, type Rig } from '../support/rig.ts';

const POD = { metadata: { name: 'web-1' }, spec: { containers: [{ name: 'main' }] } };

let rig: Rig;
let cluster: { id: string; name: string; token: string };
let kubernetes: PlayedKubernetes;
let teamUuid: string;
let member: FakeCaller;
/** The API server's ends of the connections. */
let processes: WebSocket[] = [];
/** Input that arrived there. */
let typed: string[] = [];

beforeAll(async () => {
  rig = await startRig({ config: { connects_per_minute: 1000 } });
  teamUuid = rig.access.team(rig.owner.workspaceUuid);
});
afterAll(() => rig.close());
beforeEach(async () => {
  [processes, typed] = [[], []];
  member = rig.access.user('member');
  rig.access.join(teamUuid, member, 'member');
  cluster = await rig.addCluster(`cluster-${Math.random().toString(36).slice(2, 10)}`);
  kubernetes = await PlayedKubernetes.connect(rig, cluster, {
    answer: ({ pathname }) => ({ body: POD, endless: pathname === '/endless' }),
    exec: (socket) => {
      processes.push(socket);
      socket.on('message', (data: Buffer) => typed.push(data.subarray(1).toString()));
    },
  });
  return async () => {
    await kubernetes.close();
    await rig.call('DELETE', `/v1/clusters/${cluster.id}`);
  };
});

interface Open {
  /** Resolves with the way it ended. */
  ended: Promise<unknown>;
}

const scope = () => `workspace_uuid=${rig.owner.workspaceUuid}&team_uuid=${teamUuid}`;

async function openShell(caller: FakeCaller): Promise<Open> {
  const path = `/v1/clusters/${cluster.id}/shell?namespace=shop&pod=web-1&${scope()}`;
  const socket = new WebSocket(`ws://127.0.0.1:${rig.port}${path}`, { headers: caller.headers });
  const controls: Record<string, unknown>[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    if (!isBinary) controls.push(JSON.parse(data.toString()) as Record<string, unknown>); // always an object
  });
  const closed = once(socket, 'close') as Promise<[number, Buffer]>;
  await waitFor(() => controls.some(({ type }) => type === 'ready'));
  const process = await waitFor(() => processes.at(-1));
  return {
    ended: (async () => {
      const [code, reason] = await closed;
      await waitFor(() => process.readyState === WebSocket.CLOSED);
      return { code, reason: reason.toString(), last: controls.at(-1) };
    })(),
  };
}

function ask(path: string, caller: FakeCaller, headers: Record<string, string> = {}) {
  const outgoing = httpRequest({
    host: '127.0.0.1',
    port: rig.port,
    path: `/v1/clusters/${cluster.id}${path}`,
    agent: false,
    headers: { ...caller.headers, 'x-team-uuid': teamUuid, ...headers },
  });
  outgoing.on('error', () => undefined); // the abort is expected
  outgoing.end();
  return outgoing;
}

/** Like `kubectl exec`: a protocol of the API server, which the platform relays as bytes. */
async function openExec(caller: FakeCaller): Promise<Open> {
  const outgoing = ask('/tunnel/kubernetes/api/v1/namespaces/shop/pods/web-1/exec', caller, {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  });
  const [, socket] = (await once(outgoing, 'upgrade')) as [IncomingMessage, Duplex];
  socket.on('error', () => undefined);
  const process = await waitFor(() => processes.at(-1));
  return {
    ended: (async () => {
      await once(socket.resume(), 'close');
      await waitFor(() => process.readyState === WebSocket.CLOSED);
      return 'cut';
    })(),
  };
}

/** Like `kubectl get --watch`. */
async function openWatch(caller: FakeCaller): Promise<Open> {
  const outgoing = ask('/tunnel/kubernetes/endless', caller);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const closed = new Promise<string>((resolve) => response.once('close', () => resolve('cut')));
  response.on('error', () => undefined);
  response.resume();
  return { ended: closed };
}

async function openForward(caller: FakeCaller): Promise<Open> {
  const { transport } = await dialMux({
    url: new URL(`${rig.url}/v1/clusters/${cluster.id}/forward/web`),
    headers: { ...caller.headers, 'x-team-uuid': teamUuid },
    timeoutMs: 5000,
    signal: new AbortController().signal,
  });
  const session = new MuxSession(transport, { role: 'client' });
  return { ended: session.closed.then((error) => ({ code: error?.resetCode, reason: error?.reason })) };
}

const TAKINGS = [
  { how: 'the role is lowered', status: 403, take: () => rig.access.join(teamUuid, member, 'guest') },
  { how: 'the member is removed', status: 403, take: () => rig.access.leave(teamUuid, member) },
  { how: 'the token is revoked', status: 401, take: () => rig.access.revoke(member) },
  { how: 'the cluster is removed', status: 404, take: () => rig.call('DELETE', `/v1/clusters/${cluster.id}`) },
] as const;

describe.each(TAKINGS)('when $how', ({ status, take }) => {
  it('closes an open shell with the reason, and ends its process', async () => {
    const { ended } = await openShell(member);
    await take();
    expect(await ended).toEqual({
      code: 4003,
      reason: 'the right to this shell was taken',
      last: expect.objectContaining({ type: 'error', status }) as unknown,
    });
  });

  it('cuts upgraded connections through the tunnel, and streaming responses', async () => {
    const open = [await openExec(member), await openWatch(member)];
    await take();
    expect(await Promise.all(open.map(({ ended }) => ended))).toEqual(['cut', 'cut']);
  });

  it('closes an open forward with the reason', async () => {
    const { ended } = await openForward(member);
    await take();
    expect(await ended).toEqual({
      code: status === 401 ? TUNNEL_CLOSE_CODES.unauthorized : TUNNEL_CLOSE_CODES.forbidden,
      reason: expect.stringContaining('the right to this forward was taken') as string,
    });
  });
});

describe('a client that does not close', () => {
  it('cannot send further input to its shell', async () => {
    const path = `/v1/clusters/${cluster.id}/shell?namespace=shop&pod=web-1&${scope()}`;
    const socket = new WebSocket(`ws://127.0.0.1:${rig.port}${path}`, { headers: member.headers });
    socket.close = () => undefined; // ignores the request to close
    const type = (text: string): void =>
      socket.send(Buffer.concat([Buffer.of(EXEC_CHANNELS.stdin), Buffer.from(text)]));
    socket.on('message', (data: Buffer, isBinary) => {
      const control = isBinary ? {} : (JSON.parse(data.toString()) as Record<string, unknown>); // always an object
      if (control['type'] === 'ready') type('before');
      if (control['type'] === 'error') type('after');
    });
    const closed = once(socket, 'close');
    await waitFor(() => typed.includes('before'));
    rig.access.leave(teamUuid, member);
    await closed; // the platform has cut the client, and passed on all input it still accepted
    await waitFor(() => processes[0]?.readyState === WebSocket.CLOSED);
    expect(typed).not.toContain('after');
  });
});

describe('connections of other callers', () => {
  it('stay open', async () => {
    let isOver = false;
    const kept = await openShell(rig.owner);
    void kept.ended.then(() => (isOver = true));
    const { ended } = await openShell(member);
    rig.access.leave(teamUuid, member);
    await ended;
    const [owners] = processes;
    if (owners === undefined) throw new Error('the owner has no shell');
    expect({ isOver, state: owners.readyState }).toEqual({ isOver: false, state: WebSocket.OPEN });
    owners.close();
    // Callers who keep the right learn of a lost container as before.
    expect(await kept.ended).toMatchObject({ code: 1011 });
  });
});
