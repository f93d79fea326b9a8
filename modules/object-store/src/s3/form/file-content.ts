import type { IncomingMessage } from 'node:http';
import { storeErrors } from '../../errors.ts';
import { createMemorySource, type ContentConsumer, type ContentSource } from '../../domain/content/content-source.ts';
import type { FormReader } from './form-reader.ts';

/** A file up to this size is buffered in memory, and other fields may follow it. */
const SMALL_BYTES = 256 * 1024;

/**
 * Opens the file of a form, whose length is not declared. A small file is read to measure it; the size of a larger one
 * follows from the request's length, since S3 requires the file to be the last field.
 */
export async function openFile(form: FormReader, bodyBytes: number, boundary: string): Promise<ContentSource> {
  const left = bodyBytes - form.position;
  if (left > SMALL_BYTES) {
    const sizeBytes = left - `\r\n--${boundary}--\r\n`.length;
    return { sizeBytes, pump: (consume) => pumpLast(form, sizeBytes, consume) };
  }
  const chunks: Buffer[] = [];
  for await (const chunk of form.file()) chunks.push(chunk);
  return createMemorySource(chunks);
}

async function pumpLast(form: FormReader, sizeBytes: number, consume: ContentConsumer): Promise<void> {
  let received = 0;
  for await (const chunk of form.file()) {
    received += chunk.length;
    if (received > sizeBytes) throw notLast();
    await consume(chunk);
  }
  if (received < sizeBytes) throw notLast();
}

function notLast(): Error {
  const reason = 'A large file must be the last field of the form, and the form must end with a line break';
  return storeErrors.InvalidArgument({ details: { reason, field: 'file' } });
}

/** The body in chunks. Leaves the connection open if reading stops early. */
export async function* readChunks(incoming: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    // no encoding is set
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch (cause) {
    throw storeErrors.IncompleteBody({ cause });
  }
  if (!incoming.complete) throw storeErrors.IncompleteBody();
}
