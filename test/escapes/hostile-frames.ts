import { PassThrough, Duplex } from 'node:stream';
import { HelperConnection } from '@svc/sandboxes/testing/helper-connection';
import type { Outcome } from './outcome.ts';

const HELLO = frame(1, 0, '{"protocol":1,"pid":1}');

/** Input from a compromised helper, each after a valid greeting. */
const HOSTILE: readonly (readonly [what: string, bytes: Buffer])[] = [
  ['a frame of 4 GiB', Buffer.from([0xff, 0xff, 0xff, 0xff, 3, 0, 0, 0, 1])],
  ['an unknown type', frame(0x7f, 1, 'x')],
  ['data for a stream that nobody opened', frame(3, 77, '\x01data')],
  ['credit that nobody waits for', frame(5, 9, '\xff\xff\xff\xff')],
  ['a second greeting', HELLO],
  ['an end without JSON', frame(6, 1, '{')],
  ['an end that names a prototype', frame(6, 1, '{"__proto__":{"ok":true}}')],
  ['an answer that nests without end', frame(4, 1, '['.repeat(100_000))],
  ['a megabyte of nothing', Buffer.alloc(1024 * 1024)],
];

function frame(type: number, stream: number, payload: string): Buffer {
  const body = Buffer.from(payload, 'latin1');
  const header = Buffer.alloc(9);
  header.writeUInt32BE(body.length, 0);
  header.writeUInt8(type, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, body]);
}

function streamOf(...pieces: readonly Buffer[]): Duplex {
  const readable = new PassThrough();
  for (const piece of pieces) readable.write(piece);
  return Duplex.from({ readable, writable: new PassThrough().resume() });
}

/** Succeeds if any of it is accepted: the connection must end at the first invalid frame. */
export async function hostileHelper(): Promise<Outcome> {
  const taken: string[] = [];
  for (const [what, bytes] of HOSTILE) {
    const connection = await HelperConnection.over(streamOf(HELLO, bytes), AbortSignal.timeout(5000)).catch(() => null);
    if (connection === null) continue; // already cut off
    const reason = await Promise.race([connection.closed, new Promise((resolve) => setTimeout(resolve, 2000, 'open'))]);
    if (reason === null || reason === 'open') taken.push(what);
    await connection.close();
  }
  return { done: taken.length > 0, detail: taken.join(', ') };
}

/** The same path with a valid frame: the connection stays open. */
export async function politeHelper(open: (stream: Duplex) => Promise<HelperConnection>): Promise<Outcome> {
  const connection = await open(streamOf(HELLO, frame(9, 0, '')));
  const lost = connection.lost;
  await connection.close();
  return { done: !lost, detail: 'stays' };
}
