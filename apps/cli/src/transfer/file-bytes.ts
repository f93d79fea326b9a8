import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createCrc, type CrcName } from '../s3/crc.ts';
import type { BodyProgress } from './progress.ts';

const READ_BYTES = 256 * 1024;

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

export async function crcOfRange(file: FileHandle, range: FileRange, name: CrcName): Promise<bigint> {
  const crc = createCrc(name);
  for await (const chunk of readRange(file, range)) crc.update(chunk);
  return crc.value();
}

/** The range as a body that can be opened again and again, and tells how much of it has gone. */
export function rangeBody(
  file: FileHandle,
  range: FileRange,
  progress: BodyProgress,
): { sizeBytes: number; open: () => Readable } {
  return {
    sizeBytes: range.endExclusive - range.start,
    open: () => {
      progress.restart();
      return Readable.from(counted(readRange(file, range), progress), { objectMode: false, highWaterMark: READ_BYTES });
    },
  };
}

export async function* counted<Chunk extends Uint8Array>(
  chunks: AsyncIterable<Chunk>,
  progress: BodyProgress,
): AsyncGenerator<Chunk, void> {
  for await (const chunk of chunks) {
    yield chunk;
    progress.add(chunk.length);
  }
}
