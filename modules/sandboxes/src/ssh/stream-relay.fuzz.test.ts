import { Duplex } from 'node:stream';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import {
  encodeDataFrame,
  encodeFrame,
  encodeJsonFrame,
  FrameType,
  STREAM_WINDOW_BYTES,
} from '../domain/helper/frames.ts';
import type { HelperConnection, HelperRequest } from '../domain/helper/helper-connection.ts';
import type { RelayedChannel } from './relay-path.ts';
import { StreamRelay } from './stream-relay.ts';

const CHANNELS: readonly RelayedChannel[] = [
  { kind: 'shell' },
  { kind: 'exec' },
  { kind: 'sftp' },
  { kind: 'port', port: 8080, isRecorded: true },
];

/** The connection of another replica, whose bytes are delivered at once. */
class PeerSocket extends Duplex {
  override _read(): void {
    // Nothing is read by request.
  }

  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done();
  }
}

/** What reached the helper of the sandbox. */
interface Heard {
  readonly requests: HelperRequest[];
  readonly controls: unknown[];
  input: string;
  abandoned: boolean;
}

function fakeConnection(heard: Heard): HelperConnection {
  return {
    start: (request: HelperRequest) => {
      heard.requests.push(request);
      return {
        outcome: new Promise(() => undefined),
        control: (message: unknown) => void heard.controls.push(message),
        write: async (bytes: Buffer) => void (heard.input += bytes.toString('latin1')),
        abandon: () => void (heard.abandoned = true),
        consumed: () => undefined,
      };
    },
  } as unknown as HelperConnection; // what a relay uses
}

async function relay(channel: RelayedChannel, pieces: readonly Buffer[]): Promise<Heard & { isCut: boolean }> {
  const heard: Heard = { requests: [], controls: [], input: '', abandoned: false };
  const socket = new PeerSocket();
  const entered = { connection: fakeConnection(heard), used: () => undefined, leave: () => undefined };
  const running = new StreamRelay(socket, entered, channel).run();
  for (const piece of pieces) if (!socket.destroyed) socket.emit('data', piece);
  const isCut = socket.destroyed;
  // Input is written in turns of the event loop.
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();
  await running;
  return { ...heard, isCut };
}

const open = encodeJsonFrame(FrameType.open, 1, { op: 'process.start', argv: ['sh'], env: { A: 'b' } });
const credit = (bytes: number): Buffer => {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return encodeFrame(FrameType.credit, 1, payload);
};
/** The first byte selects the channel. */
const input = (channel: number, ...frames: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.from([channel]), ...frames]);

describeFuzz({
  name: 'the relay of SSH channels between replicas',
  corpus: new URL('./corpus/stream-relay/', import.meta.url),
  seeds: [
    input(0, open, encodeDataFrame(1, 0, Buffer.from('hello')), encodeJsonFrame(FrameType.control, 1, { type: 'eof' })),
    input(1, open, credit(65_536), encodeFrame(FrameType.reset, 1, Buffer.alloc(0))),
    input(
      2,
      encodeJsonFrame(FrameType.open, 7, { op: 'file.write', path: '/etc/passwd' }),
      encodeDataFrame(7, 0, Buffer.alloc(5)),
    ),
    input(
      3,
      encodeJsonFrame(FrameType.open, 1, { op: 'process.start', port: 22 }),
      credit(0xffff_ffff),
      credit(0xffff_ffff),
    ),
    input(0, open, open),
    input(0, open, encodeDataFrame(1, 1, Buffer.from('x'))),
    input(0, encodeJsonFrame(FrameType.open, 1, null), encodeFrame(FrameType.control, 1, Buffer.from('['))),
  ],
  dictionary: [
    '\0\0\0\x05\x03\0\0\0\x01\0',
    '\0\0\0\x04\x05\0\0\0\x01',
    '\0\0\0\0\x07\0\0\0\x01',
    '\0\0\0\x02\x02\0\0\0\x01{}',
    '{"op":"',
    'null',
    '"__proto__":{}',
    '\xff\xff\xff\xff',
    '\x10\0\0',
  ],
  run: async (bytes) => {
    const channel = CHANNELS[(bytes[0] ?? 0) % CHANNELS.length] ?? { kind: 'shell' };
    const frames = bytes.subarray(1);
    const whole = await relay(channel, [frames]);
    const bytewise = await relay(
      channel,
      Array.from({ length: frames.length }, (_, at) => frames.subarray(at, at + 1)),
    );
    expect(bytewise).toEqual(whole);
    expect(whole.requests.length, 'operations of one channel').toBeLessThanOrEqual(1);
    expect(whole.input.length).toBeLessThanOrEqual(Math.min(frames.length, STREAM_WINDOW_BYTES));
    for (const { op, ...rest } of whole.requests) {
      // What the channel was authorized for, whatever the frame says.
      if (channel.kind === 'port') expect([op, rest]).toEqual(['port.dial', { port: channel.port }]);
      else if (channel.kind === 'sftp') expect([op, rest]).toEqual(['sftp', {}]);
      else expect(op).toBe('process.start');
    }
    // Nothing is left running when the connection is gone.
    if (whole.requests.length > 0) expect(whole.abandoned).toBe(true);
  },
});
