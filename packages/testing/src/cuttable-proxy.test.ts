import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCuttableProxy, type CuttableProxy } from './cuttable-proxy.ts';
import { waitFor } from './wait-for.ts';

async function echo(): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('a cuttable proxy', () => {
  let server: Server;
  let proxy: CuttableProxy;
  const open = async (): Promise<Socket> => {
    const socket = connect(proxy.port, '127.0.0.1').setNoDelay(true);
    socket.on('error', () => undefined); // the proxy resets it at the end
    await once(socket, 'connect');
    return socket;
  };
  beforeEach(async () => {
    server = await echo();
    proxy = await startCuttableProxy({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  });
  afterEach(async () => {
    await proxy[Symbol.asyncDispose]();
    server.close();
  });

  it('keeps the order of what is sent while the delay becomes shorter', async () => {
    const socket = await open();
    const received: Buffer[] = [];
    socket.on('data', (bytes) => received.push(bytes));
    const length = (): number => Buffer.concat(received).length;
    socket.write('first ');
    await waitFor(() => length() === 6);
    proxy.slow(200);
    socket.write('slow ');
    await waitFor(() => socket.bytesWritten === 11);
    await new Promise(setImmediate); // the proxy has read it
    proxy.slow(0);
    socket.write('fast');
    await waitFor(() => length() === 15);
    expect(Buffer.concat(received).toString()).toBe('first slow fast');
  });

  it('ends connections that were silent when it is restored, and serves new ones', async () => {
    const silent = await open();
    proxy.silence('all');
    silent.write('lost');
    const closed = new Promise((resolve) => silent.once('close', resolve));
    await proxy.restore();
    await closed;
    const socket = await open();
    socket.write('there');
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    expect(bytes.toString()).toBe('there');
  });

  it('sends new connections to where its target has moved', async () => {
    const other = createServer((socket) => socket.end('other'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const target = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
    await using moving = await startCuttableProxy(target);
    target.port = (other.address() as AddressInfo).port;
    const socket = connect(moving.port, '127.0.0.1');
    expect(await text(socket)).toBe('other');
    other.close();
  });
});
