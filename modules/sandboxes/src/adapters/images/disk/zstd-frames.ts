import { createZstdDecompress, type ZstdDecompress } from 'node:zlib';

const OUTPUT_BYTES = 512 * 1024;

/**
 * Decompresses all frames of a Zstandard stream (RFC 8878 section 3.1: one or more, including skippable ones), as found
 * in `zstd:chunked` layers. Node's own stream ends after the first frame.
 */
export async function* zstdFrames(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  try {
    for (let pending = await next(chunks); pending !== null;) {
      const decoder = createZstdDecompress({ chunkSize: OUTPUT_BYTES });
      const rest = feed(decoder, pending, chunks);
      try {
        yield* decoder as AsyncIterable<Buffer>;
      } finally {
        decoder.destroy();
      }
      pending = await rest;
    }
  } finally {
    await chunks.return?.();
  }
}

/** Returns the data after the frame at which the decoder stopped; null once all input is consumed. */
async function feed(decoder: ZstdDecompress, first: Buffer, chunks: AsyncIterator<Buffer>): Promise<Buffer | null> {
  const closed = new Promise<void>((resolve) => decoder.once('close', resolve));
  let given = 0;
  try {
    for (let chunk: Buffer | null = first; chunk !== null; chunk = await next(chunks)) {
      given += chunk.length;
      const current = chunk;
      const taken = new Promise<void>((resolve) => decoder.write(current, () => resolve()));
      await Promise.race([taken, closed]);
      const left = given - decoder.bytesWritten;
      if (left > 0) return current.subarray(current.length - left);
    }
    decoder.end();
  } catch (error) {
    decoder.destroy(error instanceof Error ? error : new Error(String(error)));
  }
  return null;
}

async function next(chunks: AsyncIterator<Buffer>): Promise<Buffer | null> {
  const { value, done } = await chunks.next();
  return done === true ? null : value;
}
