import { storeErrors } from '../../../errors.ts';
import type { ReadRange } from '../../../domain/ports/blob-store.ts';
import type { BufferPool } from './buffer-pool.ts';
import { isMissing, toStoreError } from './failures.ts';
import type { FileSystem, OpenFile } from './file-system.ts';

/**
 * Alternates two buffers: while the consumer holds one, the next range is read into the other. Twice as fast as a read
 * stream here, and a download needs only these two buffers.
 */
export async function* readFileRange(
  files: FileSystem,
  file: string,
  range: ReadRange,
  pool: BufferPool,
): AsyncGenerator<Uint8Array> {
  if (range.endExclusive <= range.start) return;
  const handle = await openBlob(files, file);
  const length = range.endExclusive - range.start;
  const pooled = length > pool.sizeBytes;
  const buffers = pooled ? [pool.take(), pool.take()] : [Buffer.allocUnsafe(length)];
  let position = range.start;
  let pending: Promise<Buffer> | null = readInto(handle, buffers[0], position, range.endExclusive);
  try {
    for (let turn = 1; pending !== null; turn += 1) {
      const chunk: Buffer = await pending;
      pending = null;
      position += chunk.length;
      if (position < range.endExclusive) {
        pending = readInto(handle, buffers[turn % buffers.length], position, range.endExclusive);
        // The read may fail while a slow consumer still holds the previous chunk; the next pull reports it.
        pending.catch(() => undefined);
      }
      yield chunk;
    }
  } finally {
    await pending?.catch(() => undefined); // the kernel may still be writing into the buffer
    if (pooled) for (const buffer of buffers) pool.give(buffer);
    await handle.close();
  }
}

async function readInto(
  handle: OpenFile,
  buffer: Buffer | undefined,
  position: number,
  endExclusive: number,
): Promise<Buffer> {
  if (buffer === undefined) throw new Error('no buffer to read into');
  const wanted = Math.min(buffer.length, endExclusive - position);
  let filled = 0;
  while (filled < wanted) {
    const bytesRead = await readAt(handle, buffer, filled, wanted - filled, position + filled);
    if (bytesRead === 0) throw storeErrors.DataLost({ details: { reason: 'a stored file is too short' } });
    filled += bytesRead;
  }
  return buffer.subarray(0, wanted);
}

async function openBlob(files: FileSystem, file: string): Promise<OpenFile> {
  try {
    return await files.open(file, 'r');
  } catch (error) {
    if (isMissing(error)) throw storeErrors.DataLost({ cause: error, details: { reason: 'a stored file is missing' } });
    throw toStoreError(error);
  }
}

async function readAt(handle: OpenFile, ...place: Parameters<OpenFile['read']>): Promise<number> {
  try {
    return await handle.read(...place);
  } catch (error) {
    throw toStoreError(error);
  }
}
