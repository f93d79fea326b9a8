import { createServer, type Server, type Socket } from 'node:net';
import {
  createFrameDecoder,
  encodeDataFrame,
  encodeJsonFrame,
  FrameType,
  encodeFrame,
} from '../../src/domain/helper/frames.ts';

/**
 * Implements the helper's protocol on a Unix socket without running anything. It supports two commands: `exit N` ends
 * with that code, `cat` echoes its input. Terminals behave like `cat` and end on the line `exit N`. Every file exists
 * and is empty, and every change to a file succeeds.
 */
export class FakeHelper {
  readonly path: string;
  /** Without any, it is one of an earlier version. */
  features = ['processes', 'users', 'attributes'];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #ungreeted: (() => void)[] = [];
  /** Streams of writes that have not ended. */
  readonly #writes = new WeakMap<Socket, Set<number>>();
  #frozen = false;

  constructor(path: string) {
    this.path = path;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.path, resolve);
    });
  }

  /** Pauses input and output until `thaw`; clients that connect meanwhile get no greeting. */
  freeze(): void {
    this.#frozen = true;
    for (const socket of this.#sockets) socket.pause();
  }

  thaw(): void {
    this.#frozen = false;
    for (const socket of this.#sockets) socket.resume();
    for (const greet of this.#ungreeted.splice(0)) greet();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    const decoder = createFrameDecoder({
      frame: (type, stream, payload) => this.#answer(socket, type, stream, payload),
      data: (stream, _channel, bytes, costBytes) => {
        sendCredit(socket, stream, costBytes);
        if (this.#writes.get(socket)?.has(stream) !== true) echo(socket, stream, bytes);
      },
    });
    this.#writes.set(socket, new Set());
    const { features } = this;
    const greet = (): void => void socket.write(encodeJsonFrame(FrameType.hello, 0, { protocol: 1, pid: 1, features }));
    if (this.#frozen) this.#ungreeted.push(greet);
    else greet();
    socket.on('data', (chunk: Buffer) => decoder.push(chunk));
  }

  #answer(socket: Socket, type: number, stream: number, payload: Buffer): void {
    switch (type) {
      case FrameType.ping:
        socket.write(encodeFrame(FrameType.pong, stream, payload));
        return;
      case FrameType.open: {
        const request = JSON.parse(payload.toString()) as { op: string; argv?: string[] };
        if (request.op === 'file.write') {
          this.#writes.get(socket)?.add(stream);
          return;
        }
        if (/^(?:file|user)\.|\.list$/.test(request.op)) {
          for (const answer of answersTo(request.op, stream)) socket.write(answer);
          return;
        }
        const exit = /^exit (\d+)$/.exec(request.argv?.at(-1) ?? '');
        socket.write(encodeJsonFrame(FrameType.control, stream, { type: 'started', pid: 7, path: '/bin/sh' }));
        if (exit !== null) socket.write(exited(stream, Number(exit[1])));
        return;
      }
      case FrameType.control:
        if (!payload.includes('"eof"') || this.#writes.get(socket)?.delete(stream) !== true) return;
        for (const answer of answersTo('file.write', stream)) socket.write(answer);
        return;
      case FrameType.reset:
        socket.write(
          encodeJsonFrame(FrameType.end, stream, { error: { code: 'ABORTED', message: 'the stream was reset' } }),
        );
        return;
    }
  }
}

function sendCredit(socket: Socket, stream: number, costBytes: number): void {
  const credit = Buffer.alloc(4);
  credit.writeUInt32BE(costBytes);
  socket.write(encodeFrame(FrameType.credit, stream, credit));
}

function echo(socket: Socket, stream: number, bytes: Buffer): void {
  socket.write(encodeDataFrame(stream, 1, bytes));
  const exit = /^exit (\d+)\n?$/.exec(bytes.toString());
  if (exit !== null) socket.write(exited(stream, Number(exit[1])));
}

function exited(stream: number, code: number): Buffer {
  return encodeJsonFrame(FrameType.end, stream, { result: { exit_code: code, signal: null } });
}

const ENTRY = {
  name: 'file',
  size: 0,
  mode: 0o100644,
  mod_time: '2026-01-01T00:00:00.000000000Z',
  type: 'file',
  link_target: null,
  uid: 0,
  gid: 0,
  inode: 1,
};

function answersTo(op: string, stream: number): Buffer[] {
  const results: Record<string, unknown> = {
    'file.list': { entries: [], next_cursor: '', total: 0 },
    'file.stat': ENTRY,
    'file.read': { bytes: 0 },
    'file.write': { created: true, entry: ENTRY },
    'file.mkdir': { created: true },
    'session.list': { sessions: [] },
    'process.list': { processes: [] },
    'user.get': { name: 'user', uid: 1000, gid: 1000, home: '/home/user', shell: '/bin/sh' },
  };
  const end = encodeJsonFrame(FrameType.end, stream, { result: results[op] ?? {} });
  if (op !== 'file.read') return [end];
  return [encodeJsonFrame(FrameType.control, stream, { type: 'stat', entry: ENTRY }), end];
}
