import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createCrc, type CrcName } from '../s3/crc.ts';
import type { RequestBody } from '../s3/s3-client.ts';
import type { BodyProgress } from './progress.ts';

const READ_BYTES = 256 * 1024;
/** Pieces in which a large body is handed on, so that it can be seen moving. */
const SENT_BYTES = 1024 * 1024;

export interface FileRange {
  start: number;
  endExclusive: number;
}

/** The bytes of a range, a piece at a time; ends early where the file does. */
export async function* readRange(file: FileHandle, { start, endExclusive }: FileRange): AsyncGenerator<Buffer, void> {
  for (let position = start; position < endExclusive;) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, endExclusive - position));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/** Fills the buffer from the range as far as the file goes; answers how much that is. */
export async function readInto(buffer: Buffer, file: FileHandle, { start, endExclusive }: FileRange): Promise<number> {
  let filled = 0;
  while (start + filled < endExclusive) {
    const { bytesRead } = await file.read(buffer, filled, endExclusive - start - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

export async function crcOfRange(file: FileHandle, range: FileRange, name: CrcName): Promise<bigint> {
  const crc = createCrc(name);
  for await (const chunk of readRange(file, range)) crc.update(chunk);
  return crc.value();
}

/** The range as a body that can be opened again and again, and tells how much of it has gone. */
export function rangeBody(file: FileHandle, range: FileRange, progress: BodyProgress): RequestBody {
  return {
    sizeBytes: range.endExclusive - range.start,
    open: () => {
      progress.restart();
      return Readable.from(counted(readRange(file, range), progress), { objectMode: false, highWaterMark: READ_BYTES });
    },
  };
}

/** The same of bytes that are in memory; small ones go in one piece, together with the head of the request. */
export function bytesBody(bytes: Buffer, progress: BodyProgress): RequestBody {
  return {
    sizeBytes: bytes.length,
    open: () => {
      progress.restart();
      if (bytes.length > SENT_BYTES) return Readable.from(counted(slicesOf(bytes), progress), { objectMode: false });
      progress.add(bytes.length);
      return bytes;
    },
  };
}

function* slicesOf(bytes: Buffer): Generator<Buffer, void> {
  for (let start = 0; start < bytes.length; start += SENT_BYTES) yield bytes.subarray(start, start + SENT_BYTES);
}

async function* counted<Chunk extends Uint8Array>(
  chunks: AsyncIterable<Chunk> | Iterable<Chunk>,
  progress: BodyProgress,
): AsyncGenerator<Chunk, void> {
  for await (const chunk of chunks) {
    yield chunk;
    progress.add(chunk.length);
  }
}
