import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { sandboxErrors } from '../../errors.ts';

/** Real archives of text stay below 100; zip bombs reach thousands. */
const MAX_RATIO = 200;
/** Size below which any ratio is allowed: a megabyte of one letter is not an attack. */
const FREE_BYTES = 64 * 1024 * 1024;

/** Decompresses the archive if needed; detects gzip (RFC 1952) by its first two bytes. Nothing is buffered. */
export async function* plainArchive(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const source = body[Symbol.asyncIterator]();
  let first = Buffer.alloc(0);
  while (first.length < 2) {
    const { value, done } = await source.next();
    if (done === true) break;
    first = Buffer.concat([first, value]);
  }
  const counted = { bytes: 0 };
  const all = whole(first, source, counted);
  if (first[0] === 0x1f && first[1] === 0x8b) yield* unzipped(all, counted);
  else yield* all;
}

async function* whole(
  first: Buffer,
  source: AsyncIterator<Buffer>,
  counted: { bytes: number },
): AsyncGenerator<Buffer, void> {
  counted.bytes += first.length;
  if (first.length > 0) yield first;
  for (;;) {
    const { value, done } = await source.next();
    if (done === true) return;
    counted.bytes += value.length;
    yield value;
  }
}

async function* unzipped(all: AsyncGenerator<Buffer, void>, counted: { bytes: number }): AsyncGenerator<Buffer, void> {
  const input = Readable.from(all, { objectMode: false });
  const gunzip = createGunzip();
  input.once('error', (error) => gunzip.destroy(error));
  input.pipe(gunzip);
  let grownBytes = 0;
  try {
    for await (const chunk of gunzip) {
      const bytes = chunk as Buffer; // no encoding is set
      grownBytes += bytes.length;
      if (grownBytes > FREE_BYTES && grownBytes / MAX_RATIO > counted.bytes) {
        const reason = `it grows to more than ${MAX_RATIO} times its size`;
        throw sandboxErrors.ARCHIVE_TOO_LARGE({ details: { reason } });
      }
      yield bytes;
    }
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    if (!code.startsWith('Z_')) throw cause;
    throw sandboxErrors.INVALID_ARCHIVE({ details: { reason: 'its compression is damaged' }, cause });
  } finally {
    input.destroy();
    gunzip.destroy();
  }
}
