import { createCrc, CrcJoiner, crcToBase64 } from '../s3/crc.ts';
import { abortUpload, completeUpload, sendPart, startUpload, type SentPart } from '../s3/s3-multipart.ts';
import { customerKeyHeaders } from './customer-key.ts';
import { bytesBody } from './file-bytes.ts';
import { forEachParallel } from './body-limiter.ts';
import { DEFAULT_PART_BYTES, MIN_PART_BYTES } from './part-plan.ts';
import type { TransferContext } from './transfer-context.ts';

interface Piece {
  partNumber: number;
  bytes: Buffer;
}

/**
 * Parts double in size after this many, since a stream's length is unknown: 10,000 of them exceed the maximum object
 * size.
 */
const PARTS_OF_ONE_SIZE = 1_000;

/** Uploads a stream with two parts in memory at a time. Not resumable, because a stream cannot be read again. */
export async function uploadStream(
  context: TransferContext,
  source: AsyncIterable<Uint8Array>,
  target: { bucket: string; key: string; headers: Readonly<Record<string, string>> },
): Promise<number> {
  const { client, signal } = context;
  const customerKey = customerKeyHeaders(context.customerKey);
  const firstBytes = Math.max(MIN_PART_BYTES, context.partSizeBytes ?? DEFAULT_PART_BYTES);
  const pieces = readPieces(source, firstBytes);
  const first = await pieces.next();
  const { headers, ...object } = target;
  if (first.done === true || first.value.bytes.length < firstBytes) {
    const bytes = first.done === true ? Buffer.alloc(0) : first.value.bytes;
    await pieces.return();
    const all = { ...headers, ...customerKey, 'x-amz-checksum-crc32': crcToBase64('crc32', crcOf(bytes)) };
    await client.sendForText({
      method: 'PUT',
      ...object,
      headers: all,
      body: bytesBody(bytes, context.progress.body()),
      signal,
    });
    return bytes.length;
  }
  const uploadId = await startUpload(client, { ...target, customerKey, signal });
  const name = { ...object, uploadId, customerKey, signal };
  const sent: SentPart[] = [];
  try {
    await forEachParallel(startingWith(first.value, pieces), 2, async ({ partNumber, bytes }) => {
      sent.push(
        await sendPart(client, {
          ...name,
          partNumber,
          crc32: crcOf(bytes),
          body: bytesBody(bytes, context.progress.body()),
        }),
      );
    });
    const ordered = sent.toSorted((left, right) => left.partNumber - right.partNumber);
    const joiner = new CrcJoiner('crc32');
    const crc32 = ordered.reduce((whole, part) => joiner.join(whole, part.crc32 ?? 0n, part.sizeBytes), 0n);
    await completeUpload(client, { ...name, parts: ordered, crc32 });
    return ordered.reduce((sum, part) => sum + part.sizeBytes, 0);
  } catch (error) {
    // Even after Ctrl-C: these parts cannot be resumed and would only use space.
    await abortUpload(client, { ...name, signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    throw error;
  }
}

async function* readPieces(source: AsyncIterable<Uint8Array>, firstBytes: number): AsyncGenerator<Piece, void> {
  let partNumber = 1;
  let wanted = firstBytes;
  let gathered: Uint8Array[] = [];
  let gatheredBytes = 0;
  for await (const chunk of source) {
    for (let offset = 0; offset < chunk.length;) {
      const take = Math.min(wanted - gatheredBytes, chunk.length - offset);
      gathered.push(chunk.subarray(offset, offset + take));
      gatheredBytes += take;
      offset += take;
      if (gatheredBytes < wanted) continue;
      yield { partNumber, bytes: Buffer.concat(gathered) };
      [gathered, gatheredBytes] = [[], 0];
      partNumber += 1;
      if (partNumber % PARTS_OF_ONE_SIZE === 0) wanted *= 2;
    }
  }
  if (gatheredBytes > 0) yield { partNumber, bytes: Buffer.concat(gathered) };
}

async function* startingWith(first: Piece, rest: AsyncGenerator<Piece, void>): AsyncGenerator<Piece, void> {
  yield first;
  yield* rest;
}

function crcOf(bytes: Buffer): bigint {
  const crc = createCrc('crc32');
  crc.update(bytes);
  return crc.value();
}
