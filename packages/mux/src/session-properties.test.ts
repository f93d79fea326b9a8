import { createHash } from 'node:crypto';
import { Transform, duplexPair, type Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import { fakeClock, waitFor } from '@svc/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { duplexTransport } from './duplex-transport.ts';
import { MuxSession } from './session.ts';
import type { MuxStream } from './stream.ts';

/** The actions of a stream on each side: pieces to write, how it reads, and whether it is reset midway. */
interface Plan {
  pieces: number[];
  answer: number[];
  /** Bytes after which the reader pauses for a turn of the event loop; 0 = never. */
  restsAfterBytes: number;
  resetsAfterPieces: number | null;
}

const sizes = fc.array(fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 200_000 })), { maxLength: 8 });
const plan: fc.Arbitrary<Plan> = fc.record({
  pieces: sizes,
  answer: sizes,
  restsAfterBytes: fc.constantFrom(0, 1, 70_000),
  resetsAfterPieces: fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.nat({ max: 8 }) },
  ),
});

/** A wire that splits its bytes differently than they were written. */
function recut(from: Duplex, to: Duplex, sizeBytes: number): void {
  const cutter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = 0; at < chunk.length; at += sizeBytes) this.push(chunk.subarray(at, at + sizeBytes));
      done();
    },
  });
  from.pipe(cutter).pipe(to);
}

function wire(sizeBytes: number): [Duplex, Duplex] {
  const [left, leftInner] = duplexPair();
  const [right, rightInner] = duplexPair();
  recut(leftInner, rightInner, sizeBytes);
  recut(rightInner, leftInner, sizeBytes);
  return [left, right];
}

/** Bytes that differ by stream and offset, so that a swap cannot go unnoticed. */
function generateBytes(seed: string, pieces: readonly number[]): Buffer[] {
  return pieces.map((size, index) => {
    const block = createHash('sha256').update(`${seed} ${index}`).digest();
    return Buffer.alloc(size, block);
  });
}

const reused = Buffer.alloc(200_000);

/** Every second stream uses `writeCopy`, from memory that is overwritten immediately. */
function send(stream: MuxStream, piece: Buffer): boolean {
  if (stream.id % 4 < 2) return stream.write(piece);
  const isWritable = stream.writeCopy(reused.subarray(0, piece.copy(reused)));
  reused.fill(0);
  return isWritable;
}

async function write(stream: MuxStream, pieces: readonly Buffer[], resetsAfter: number | null): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index === resetsAfter) return stream.reset(300, 'half-way');
    if (!send(stream, piece))
      await new Promise<void>((resolve) => stream.once('drain', resolve).once('close', resolve));
  }
  if (resetsAfter !== null) return stream.reset(300, 'at the end');
  stream.end();
}

async function digest(stream: MuxStream, restsAfterBytes: number): Promise<string> {
  const hash = createHash('sha256');
  let unrested = 0;
  // Plain iteration would end the other direction as well.
  const chunks: AsyncIterable<Buffer> = stream.iterator({ destroyOnReturn: false });
  for await (const chunk of chunks) {
    hash.update(chunk);
    unrested += chunk.length;
    if (restsAfterBytes > 0 && unrested >= restsAfterBytes) {
      unrested = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return hash.digest('hex');
}

const digestOf = (pieces: readonly Buffer[]) =>
  pieces.reduce((hash, piece) => hash.update(piece), createHash('sha256')).digest('hex');

it('delivers each stream exactly its own bytes, whatever the others do and however the wire splits', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(plan, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(1_000, 7_919, 65_536),
      async (plans, cutBytes) => {
        const [left, right] = wire(cutBytes);
        const clock = fakeClock();
        const answers: Promise<string | null>[] = [];
        const client = new MuxSession(duplexTransport(left), { role: 'client', clock });
        const server = new MuxSession(duplexTransport(right), {
          role: 'server',
          clock,
          onStream: (stream) => {
            const index = Number(stream.metadata.toString());
            const { answer, restsAfterBytes } = plans[index] ?? { answer: [], restsAfterBytes: 0 };
            answers[index] = Promise.all([
              digest(stream, restsAfterBytes),
              write(stream, generateBytes(`server ${index}`, answer), null),
            ]).then(
              ([seen]) => seen,
              () => null,
            );
          },
        });
        const results = await Promise.all(
          plans.map(async (each, index) => {
            const stream = client.open(Buffer.from(String(index)));
            const ended = finished(stream).catch(() => undefined);
            const writing = write(stream, generateBytes(`client ${index}`, each.pieces), each.resetsAfterPieces);
            const seen = await digest(stream, each.restsAfterBytes).catch(() => null);
            await writing;
            await ended;
            return seen;
          }),
        );
        await waitFor(() => client.streamCount + server.streamCount === 0);
        for (const [index, each] of plans.entries()) {
          if (each.resetsAfterPieces !== null) continue;
          expect(results[index]).toBe(digestOf(generateBytes(`server ${index}`, each.answer)));
          expect(await answers[index]).toBe(digestOf(generateBytes(`client ${index}`, each.pieces)));
        }
        client.close();
        server.close();
        expect(await Promise.all([client.closed, server.closed])).toEqual([null, null]);
        expect(clock.pendingTimers()).toBe(0);
      },
    ),
    { numRuns: 60 },
  );
}, 120_000);
