import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { relayUpgrade, type RelayedUpgrade } from './relay-upgrade.ts';

/** Connections that the target got. */
let targets: Duplex[];
let target: Server;
let front: Server;
let client: Socket;
let upgrade: RelayedUpgrade;

const portOf = (server: Server): number => (server.address() as AddressInfo).port; // it listens on a port

beforeEach(async () => {
  targets = [];
  target = createServer().on('connection', (socket: Socket) => {
    socket.on('error', () => undefined); // cut by the relay
    targets.push(socket);
  });
  front = createServer();
  await Promise.all([target, front].map((server) => once(server.listen(0, '127.0.0.1'), 'listening')));
  client = connect(portOf(front), '127.0.0.1');
  client.on('error', () => undefined); // cut by the front
  client.write('GET / HTTP/1.1\r\nHost: front\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  const [request, socket, head] = (await once(front, 'upgrade')) as [IncomingMessage, Duplex, Buffer];
  socket.on('error', () => undefined); // cut by the client
  upgrade = { request, socket, head };
});
afterEach(async () => {
  for (const socket of [client, upgrade.socket, ...targets]) socket.destroy();
  await Promise.all([target, front].map((server) => new Promise((done) => void server.close(done))));
});

const relay = (joined: () => void = () => undefined): Promise<void> =>
  relayUpgrade(
    upgrade,
    {
      agent: false,
      connection: { host: '127.0.0.1', port: portOf(target) },
      path: '/',
      headers: [],
      timeoutMs: 30_000,
    },
    async () => joined(),
  );

it('joins client and target once the target accepts', async () => {
  target.on('upgrade', (_request, socket: Duplex) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n'),
  );
  let isJoined = false;
  await relay(() => (isJoined = true));
  expect(isJoined).toBe(true);
});

it('opens no connection for a client that left before', async () => {
  upgrade.socket.destroy();
  await once(upgrade.socket, 'close');
  target.on('upgrade', (_request, socket: Duplex) => socket.destroy());
  await relay();
  expect(targets).toHaveLength(0);
});

it('ends its connection when the client leaves before the target answers', async () => {
  const ended = Promise.withResolvers<void>();
  target.on('upgrade', (_request, socket: Duplex) => {
    socket.resume().once('end', ended.resolve);
    upgrade.socket.destroy();
  });
  await relay();
  await ended.promise;
});
