import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:http';
import { collectStream } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { openExec, type ExecRoute } from '@svc/kube/exec';
import { PodExecStream, runInPod } from './exec-stream.ts';

const TARGET = { namespace: 'team', pod: 'web', container: 'sandbox', command: ['bridge'] };
const signal = new AbortController().signal;

describe('the stream of an exec in a pod', () => {
  let server: Server;
  let sockets: WebSocketServer;
  let route: ExecRoute;
  /** Subprotocol that the server speaks. */
  let protocol: string;
  /** What the server does with each process. */
  let run: (socket: WebSocket) => void;

  beforeEach(async () => {
    protocol = 'v5.channel.k8s.io';
    run = () => undefined;
    server = createServer();
    sockets = new WebSocketServer({ server, handleProtocols: () => protocol });
    sockets.on('connection', (socket) => run(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    route = { server: new URL(`http://127.0.0.1:${port}`), connection: () => Promise.resolve({}) };
  });
  afterEach(async () => {
    for (const socket of sockets.clients) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  });

  const open = async (): Promise<PodExecStream> =>
    new PodExecStream(await openExec(route, { ...TARGET, stdin: true, tty: false }, { signal }));
  const send = (socket: WebSocket, channel: number, text: string): void =>
    socket.send(Buffer.concat([Buffer.of(channel), Buffer.from(text)]));

  it('carries stdout and stdin, and keeps stderr and unknown channels apart', async () => {
    run = (socket) => {
      send(socket, 1, 'out ');
      send(socket, 2, ' warning\n');
      send(socket, 9, 'of a later version');
      socket.on('message', (data: Buffer) => {
        if (data[0] === 0) send(socket, 1, data.subarray(1).toString().toUpperCase());
        if (data[0] === 255) socket.close(); // the end of stdin
      });
    };
    const stream = await open();
    stream.write('in');
    stream.end();
    expect((await collectStream(stream)).toString()).toBe('out IN');
    expect(stream.complaint).toBe('warning');
  });

  it('closes the connection to end the input in version 4', async () => {
    protocol = 'v4.channel.k8s.io';
    const received: number[] = [];
    const closed = Promise.withResolvers<void>();
    run = (socket) => {
      socket.on('message', (data: Buffer) => received.push(data[0] ?? -1));
      socket.once('close', () => closed.resolve());
    };
    const stream = await open();
    stream.end('in');
    await closed.promise;
    expect(received).toEqual([0]);
  });

  it('stops reading while its reader does not', async () => {
    const sent = Promise.withResolvers<WebSocket>();
    run = (socket) => sent.resolve(socket);
    const stream = await open();
    const socket = await sent.promise;
    const piece = Buffer.concat([Buffer.of(1), Buffer.alloc(1024 * 1024)]);
    for (let count = 0; count < 64; count += 1) socket.send(piece);
    stream.read(0); // fills its buffer
    await expect.poll(() => stream.readableLength).toBeGreaterThan(0);
    expect(socket.bufferedAmount).toBeGreaterThan(0);
    socket.close();
    let sizeBytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) sizeBytes += chunk.length;
    expect(sizeBytes).toBe(64 * 1024 * 1024);
  });

  it.each([
    [{ status: 'Success' }, { exitCode: 0 }],
    [
      {
        status: 'Failure',
        reason: 'NonZeroExitCode',
        details: { causes: [{ reason: 'ExitCode', message: '7' }] },
      },
      { exitCode: 7 },
    ],
    [{ status: 'Failure', message: 'no such container' }, { reason: 'no such container' }],
  ])('runs a command to its end: %j', async (status, end) => {
    run = (socket) => {
      send(socket, 3, JSON.stringify(status));
      socket.close();
    };
    expect(await runInPod(route, TARGET, signal)).toEqual(end);
  });

  it('throws if the connection breaks before the command ends, or the signal aborts', async () => {
    run = (socket) => socket.terminate();
    await expect(runInPod(route, TARGET, signal)).rejects.toThrow('the connection to the pod was lost');
    const abort = new AbortController();
    const reason = new Error('left');
    run = () => abort.abort(reason);
    await expect(runInPod(route, TARGET, abort.signal)).rejects.toBe(reason);
  });
});
