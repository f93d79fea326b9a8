import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as sendRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { json } from 'node:stream/consumers';
import { createGrantedAccess } from '@svc/access';
import type { Forwarded } from '@svc/http';
import { createTestAuthority, waitFor, type FakeCaller } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  BLOCK_BYTES,
  COUNTED_BLOCKS,
  createInstallation,
  MAX_FORWARDS,
  startReplica,
  type Installation,
  type TestReplica,
} from './testing/replica-pair.ts';

let installation: Installation;
let asked: TestReplica;
let owner: TestReplica;
let caller: FakeCaller;

beforeEach(async () => {
  installation = await createInstallation();
  caller = installation.access.user('owner');
  asked = await startReplica('asked', installation);
  owner = await startReplica('owner', installation);
  installation.owner = (self) => (self === 'owner' ? 'here' : owner.peer);
});

afterEach(async () => {
  await Promise.all([asked.close(), owner.close()]);
});

const call = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${asked.url}${path}`, {
    ...init,
    headers: { ...caller.headers, ...(init.headers as Record<string, string>) },
  });

async function upgrade(path: string): Promise<{ response: IncomingMessage; socket: Duplex | null }> {
  const headers = { ...caller.headers, connection: 'Upgrade', upgrade: 'echo' };
  const outgoing = sendRequest(`${asked.url}${path}`, { headers }).end();
  return new Promise((resolve, reject) => {
    outgoing.once('error', reject);
    outgoing.once('response', (response) => resolve({ response, socket: null }));
    outgoing.once('upgrade', (response, socket) => resolve({ response, socket }));
  });
}

/** Sends half of a small body. */
function startBody(): ClientRequest {
  const headers = { ...caller.headers, 'content-length': '10' };
  const outgoing = sendRequest(`${asked.url}/things/1`, { method: 'PUT', headers });
  outgoing.on('error', () => undefined); // tests cut it
  outgoing.write('half');
  return outgoing;
}

describe('a request for what another replica holds', () => {
  it('is answered by that replica, which sees the client as the first one does', async () => {
    const answer = await call('/things/1', { headers: { 'x-request-id': 'asked-by-client' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-request-id')).toBe('asked-by-client');
    expect(await answer.json()).toEqual({
      servedBy: 'owner',
      remote: '127.0.0.1',
      requestId: 'asked-by-client',
      host: new URL(asked.url).host,
    });
  });

  it('is found by its body, which arrives whole, however it was sent', async () => {
    const body = { thing: '1', text: `ä "${'x'.repeat(40_000)}"`, list: [null, 1.5], nested: { empty: {} } };
    const sent = Buffer.from(JSON.stringify(body, null, 2));
    const headers = { 'content-type': 'application/json; charset=utf-8', 'content-digest': 'sha-256=:of those bytes:' };
    const whole = await call('/named', { method: 'POST', headers, body: sent });
    expect(whole.status).toBe(201);
    expect(await whole.json()).toEqual({ servedBy: 'owner', body, digest: null });
    const pieces = new ReadableStream({
      start(controller) {
        for (let at = 0; at < sent.length; at += 1000) controller.enqueue(sent.subarray(at, at + 1000));
        controller.close();
      },
    });
    const chunked = await call('/named', { method: 'POST', headers, body: pieces, duplex: 'half' });
    expect(await chunked.json()).toMatchObject({ servedBy: 'owner', body });
    const unnamed = await call('/named', { method: 'POST', headers, body: '{"other":1}' });
    expect(await unnamed.json()).toMatchObject({ servedBy: 'asked', body: { other: 1 } });
    const invalid = await call('/named', { method: 'POST', headers, body: '{"thing":' });
    expect(invalid.status).toBe(400);
  });

  it('streams in both directions', async () => {
    const body = randomBytes(8 * 1024 * 1024);
    const answer = await call('/things/1', { method: 'PUT', body });
    expect(answer.status).toBe(200);
    expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
  });

  it('keeps a small body as it is, and is not sent before all of it is there', async () => {
    for (const size of [1, 16 * 1024, 16 * 1024 + 1]) {
      const body = randomBytes(size);
      const answer = await call('/things/1', { method: 'PUT', body });
      expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
    }
    const outgoing = startBody();
    await waitFor(() => asked.forwarder.open === 1);
    expect(owner.rights.size).toBe(0);
    outgoing.destroy();
    await waitFor(() => asked.forwarder.open === 0);
  });

  it('gives its place back when its client left before it had one', async () => {
    const found = Promise.withResolvers<void>();
    const asking = Promise.withResolvers<void>();
    installation.beforeFind = () => {
      asking.resolve();
      return found.promise;
    };
    const outgoing = startBody();
    await asking.promise;
    outgoing.destroy();
    await waitFor(() => asked.rights.size === 0);
    found.resolve();
    installation.beforeFind = async () => undefined;
    await (await call('/things/1')).text(); // goes through after it
    expect(asked.forwarder.open).toBe(0);
  });

  it('is answered in whole to a client that reads late, and next to others', async () => {
    const late = await call('/things/1/bytes');
    for (let count = 0; count < 3; count += 1) {
      expect(await (await call('/things/1')).json()).toMatchObject({ servedBy: 'owner' });
    }
    const head = await call('/things/1', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const bytes = Buffer.from(await late.arrayBuffer());
    expect(bytes.length).toBe(COUNTED_BLOCKS * BLOCK_BYTES);
    const blocks = Array.from({ length: COUNTED_BLOCKS }, (_, index) =>
      bytes.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES),
    );
    expect(blocks.every((block, index) => block.equals(Buffer.alloc(BLOCK_BYTES, index)))).toBe(true);
    expect(asked.forwarder.open).toBe(0);
  });

  it('is in the audit log once, with the address of the client', async () => {
    await (
      await call('/things/1', { method: 'PUT', body: 'x', headers: { 'x-request-id': 'audited-request' } })
    ).text();
    expect(installation.audit.entries).toHaveLength(1);
    expect(installation.audit.entries[0]).toMatchObject({ requestId: 'audited-request', remoteAddress: '127.0.0.1' });
  });

  it('is refused by the first replica if the caller may not make it', async () => {
    expect((await fetch(`${asked.url}/things/1`)).status).toBe(401);
    expect(owner.forwarder.open + asked.forwarder.open).toBe(0);
  });

  it('stays where it was sent if nothing holds it', async () => {
    installation.owner = () => 'none';
    expect((await call('/things/1')).status).toBe(503);
  });

  it('is never forwarded a second time', async () => {
    installation.owner = (self) => (self === 'owner' ? asked.peer : owner.peer);
    const answer = await call('/things/1');
    expect([answer.status, await answer.json()]).toMatchObject([503, { code: 'SHUTTING_DOWN' }]);
  });

  it('ends at both replicas when the client leaves', async () => {
    const leaving = new AbortController();
    const answer = await call('/things/1/stream', { signal: leaving.signal });
    await answer.body?.getReader().read();
    leaving.abort();
    await waitFor(() => owner.ended.length === 1 && asked.forwarder.open === 0, { description: 'both ends' });
  });

  it('ends at both replicas when the right to it is revoked', async () => {
    const answer = await call('/things/1/stream');
    const reader = answer.body?.getReader();
    await reader?.read();
    installation.access.revoke(caller);
    await expect(reader?.read()).rejects.toThrow();
    await waitFor(() => owner.ended.length === 1 && asked.forwarder.open === 0, { description: 'both ends' });
    await waitFor(() => asked.rights.size + owner.rights.size === 0, { description: 'no held right' });
  });
});

describe('a connection to what another replica holds', () => {
  it('passes bytes in both directions', async () => {
    const { response, socket } = await upgrade('/echo');
    expect(response.headers['x-served-by']).toBe('owner');
    socket?.write('hello');
    const [received] = (await once(socket as Duplex, 'data')) as [Buffer]; // accepted above
    expect(received.toString()).toBe('hello');
    socket?.destroy();
    await waitFor(() => asked.forwarder.open === 0, { description: 'the end' });
  });

  it('ends when the right to it is revoked', async () => {
    const { socket } = await upgrade('/echo');
    installation.access.revoke(caller);
    await once((socket as Duplex).resume(), 'close'); // accepted above
    await waitFor(() => asked.rights.size + owner.rights.size === 0, { description: 'no held right' });
  });

  it('is cut when the replica is gone', async () => {
    const { socket } = await upgrade('/echo');
    const closed = once((socket as Duplex).resume(), 'close'); // accepted above
    await owner.close();
    await closed;
  });
});

describe('a replica that does not answer', () => {
  const failed = async (answer: Response): Promise<unknown> => [
    answer.status,
    answer.headers.get('retry-after'),
    ((await answer.json()) as { code: string }).code,
  ];

  it('is 503 with Retry-After if nothing was sent to it', async () => {
    await owner.close();
    expect(await failed(await call('/things/1'))).toEqual([503, '1', 'REPLICA_UNREACHABLE']);
    const put = await call('/things/1', { method: 'PUT', body: 'x' });
    expect(await failed(put)).toEqual([503, '1', 'REPLICA_UNREACHABLE']);
    const { response } = await upgrade('/echo');
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '1']);
    expect(await json(response)).toMatchObject({ code: 'REPLICA_UNREACHABLE' });
  });

  it('is 502 without Retry-After if it may have carried out the request', async () => {
    const answer = call('/things/1/silent', { method: 'POST' });
    await waitFor(() => owner.rights.size === 1, { description: 'the request at the owner' });
    await owner.close();
    expect(await failed(await answer)).toEqual([502, null, 'REPLICA_LOST']);
  });

  it('is cut when its lease has ended, although its connections stay open', async () => {
    const answer = call('/things/1/silent', { method: 'POST' });
    await waitFor(() => owner.rights.size === 1, { description: 'the request at the owner' });
    installation.live = [];
    await installation.clock.advance(2_000);
    expect(asked.forwarder.open).toBe(1); // the database may just be back
    await installation.clock.advance(2_000);
    expect(await failed(await answer)).toEqual([502, null, 'REPLICA_LOST']);
  });

  it('is not confused with another one at the same address', async () => {
    installation.owner = (self) => (self === 'owner' ? 'here' : { ...owner.peer, replica: 'another' });
    expect(await failed(await call('/things/1'))).toEqual([503, '1', 'REPLICA_UNREACHABLE']);
    expect(installation.audit.entries).toEqual([]);
  });
});

describe('a connection that a replica itself opens', () => {
  const forwarded = async (changed: Partial<Forwarded['owned']> = {}): Promise<Forwarded> => {
    const grant = await installation.access.authorize({ principal: caller.principal, action: 'thing:read' });
    return {
      owned: { kind: 'thing', id: 'echo', workspaceUuid: grant.workspaceUuid, ...changed },
      granted: createGrantedAccess(caller.principal, new Date(), 'thing:read', grant),
      requestId: 'of-a-client',
      client: { remoteAddress: '192.0.2.1', isSecure: true },
    };
  };
  const open = async (changed?: Partial<Forwarded['owned']>, signal = new AbortController().signal, path = '/echo') =>
    asked.forwarder.connect({ path, protocol: 'echo', signal }, await forwarded(changed));

  /** Unlike `once`, it does not fail with the error of a socket that is cut. */
  const closed = (socket: Duplex) => new Promise((resolve) => socket.resume().once('close', resolve));

  it('reaches the owner, which authorizes it again, and is raw then', async () => {
    const socket = (await open()) as Duplex; // the owner is elsewhere
    expect(asked.forwarder.open).toBe(1);
    socket.write('hello');
    const [received] = (await once(socket, 'data')) as [Buffer];
    expect(received.toString()).toBe('hello');
    socket.destroy();
    await waitFor(() => asked.forwarder.open === 0);
  });

  it('is refused beyond the share of its workspace, while others are served', async () => {
    const sockets = [];
    for (let count = 0; count < 4; count += 1) sockets.push(await open());
    await expect(open()).rejects.toMatchObject({
      code: 'TOO_MANY_FORWARDS',
      status: 503,
      details: { holder: 'workspace', held: 4, limit: MAX_FORWARDS },
    });
    const refused = await call('/things/1');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    const other = installation.access.user('other');
    expect((await call('/things/1', { headers: other.headers })).status).toBe(200);
    for (const socket of sockets) socket?.destroy();
    await waitFor(() => asked.forwarder.open === 0);
    expect((await call('/things/1')).status).toBe(200);
  });

  it('is not opened where this replica or none is the owner', async () => {
    for (const where of ['here', 'none'] as const) {
      installation.owner = () => where;
      expect(await open()).toBeNull();
    }
  });

  it('fails with what the owner answers', async () => {
    await expect(open({ id: 'another' })).rejects.toMatchObject({
      code: 'HOP_REFUSED',
      status: 403,
      details: { reason: 'it is not what was authorized' },
    });
    await expect(open({}, undefined, '/nowhere')).rejects.toMatchObject({ code: 'NOT_FOUND', status: 404 });
    await expect(open({}, undefined, '/local')).rejects.toMatchObject({ code: 'HOP_REFUSED' });
    const connection = { path: '/echo', protocol: 'echo', signal: new AbortController().signal };
    const granted = await forwarded();
    installation.access.revoke(caller);
    await expect(asked.forwarder.connect(connection, granted)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(asked.forwarder.open).toBe(0);
  });

  it('fails as unreachable where nothing listens, and with the reason of the signal', async () => {
    await owner.close();
    await expect(open()).rejects.toMatchObject({ code: 'REPLICA_UNREACHABLE', status: 503 });
    const left = AbortSignal.abort(new Error('left'));
    await expect(open({}, left)).rejects.toThrow('left');
    expect(asked.forwarder.open).toBe(0);
  });

  it('ends with its right, and is cut when the owner is gone', async () => {
    const [first, second] = [(await open()) as Duplex, (await open()) as Duplex]; // the owner is elsewhere
    const cut = closed(second);
    installation.live = [];
    await installation.clock.advance(4_000);
    await cut;
    first.destroy();
    installation.live = [owner.peer];
    const third = (await open()) as Duplex;
    const ended = closed(third);
    installation.access.revoke(caller);
    await ended;
  });
});

describe('replicas whose authority is renewed', () => {
  /** Over a new connection. */
  const isForwarded = async (): Promise<boolean> => {
    const { response, socket } = await upgrade('/echo');
    socket?.destroy();
    return response.headers['x-served-by'] === 'owner';
  };

  it('reach one another at every step', async () => {
    const { authority: old } = installation;
    const next = await createTestAuthority();
    for (const [replica, used, trusted] of [
      [asked, old, [old, next]],
      [owner, old, [old, next]],
      [owner, next, [old, next]],
      [asked, next, [old, next]],
      [asked, next, [next]],
      [owner, next, [next]],
    ] as const) {
      await replica.renew(used, trusted);
      expect(await isForwarded()).toBe(true);
    }
  });

  it('accept no certificate of an authority that is gone', async () => {
    const next = await createTestAuthority();
    await owner.renew(next, [next]);
    expect(await isForwarded()).toBe(false);
  });

  it('do not end what is open', async () => {
    const { socket } = await upgrade('/echo');
    const next = await createTestAuthority();
    await owner.renew(next, [next]);
    await asked.renew(next, [next]);
    socket?.write('hello');
    const [received] = (await once(socket as Duplex, 'data')) as [Buffer]; // accepted above
    expect(received.toString()).toBe('hello');
    socket?.destroy();
  });
});

it('has nothing open at the end', async () => {
  await (await call('/things/1')).text();
  expect(asked.forwarder.open).toBe(0);
});
