import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createCrc, type CrcName } from '../s3/crc.ts';
import type { RequestBody } from '../s3/s3-client.ts';
import type { BodyProgress } from './progress.ts';

const READ_BYTES = 256 * 1024;
/** Large bodies are sent in chunks of this size, for visible progress. */
const SENT_BYTES = 1024 * 1024;

export interface FileRange {
  start: number;
  endExclusive: number;
}

/** Reads a range in chunks; ends early at the end of the file. */
export async function* readRange(file: FileHandle, { start, endExclusive }: FileRange): AsyncGenerator<Buffer, void> {
  for (let position = start; position < endExclusive;) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, endExclusive - position));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/** Fills the buffer from the range up to the end of the file; returns the number of bytes. */
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

/** Returns the range as a reopenable body that reports its progress. */
export function rangeBody(file: FileHandle, range: FileRange, progress: BodyProgress): RequestBody {
  return {
    sizeBytes: range.endExclusive - range.start,
    open: () => {
      progress.restart();
      return Readable.from(counted(readRange(file, range), progress), { objectMode: false, highWaterMark: READ_BYTES });
    },
  };
}

/** Returns buffered bytes as a body; small ones are sent in one piece with the request head. */
export function bytesBody(bytes: Buffer, progress: BodyProgress): RequestBody {
  return {
    sizeBytes: bytes.length,
    open: () => {
      progress.restart();
      if (bytes.length > SENT_BYTES)
        return Readable.from(counted(splitIntoSlices(bytes), progress), { objectMode: false });
      progress.add(bytes.length);
      return bytes;
    },
  };
}

function* splitIntoSlices(bytes: Buffer): Generator<Buffer, void> {
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
