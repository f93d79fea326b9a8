import type { SizedBody } from './body-sender.ts';

/** One part of a body, numbered from 1. */
export interface BodyPart {
  partNumber: number;
  body: SizedBody;
}

/** Splits a blob into parts. Reads each part only when it is sent. */
export function* partsOfBlob(blob: Blob, partSizeBytes: number): Generator<BodyPart, void> {
  for (let start = 0, partNumber = 1; start < blob.size; start += partSizeBytes, partNumber += 1) {
    yield { partNumber, body: blob.slice(start, start + partSizeBytes) };
  }
}

/**
 * Splits a stream into parts, each buffered whole until sent, so that it can be retried. An empty stream yields one
 * empty part.
 */
export async function* partsOfStream(
  stream: ReadableStream<Uint8Array>,
  partSizeBytes: number,
): AsyncGenerator<BodyPart, void> {
  const reader = stream.getReader();
  let buffer = new Uint8Array(partSizeBytes);
  let filledBytes = 0;
  let partNumber = 1;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (let offset = 0; offset < value.byteLength;) {
        const take = Math.min(partSizeBytes - filledBytes, value.byteLength - offset);
        buffer.set(value.subarray(offset, offset + take), filledBytes);
        filledBytes += take;
        offset += take;
        if (filledBytes < partSizeBytes) continue;
        yield { partNumber, body: buffer };
        partNumber += 1;
        buffer = new Uint8Array(partSizeBytes);
        filledBytes = 0;
      }
    }
    if (filledBytes > 0 || partNumber === 1) yield { partNumber, body: buffer.slice(0, filledBytes) };
  } finally {
    // Cancels the source after an early end; does nothing after the last byte.
    await reader.cancel().catch(() => undefined);
  }
}

/** Runs at most `limit` tasks concurrently. Stops at the first failure, after the running tasks end. */
export async function forEachParallel<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  for await (const item of items) {
    const task: Promise<void> = run(item)
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(task));
    running.add(task);
    if (running.size >= limit) await Promise.race(running);
    if (failures.length > 0) break;
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
