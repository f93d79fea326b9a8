import type { IncomingMessage } from 'node:http';
import { sandboxErrors } from '../errors.ts';

/** Base64 adds a third to the 32 MiB of content that may be written this way. */
const MAX_BODY_BYTES = 44 * 1024 * 1024;

/** Reads a JSON body in the handler, because the same route also accepts streamed bodies. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Buffer; // no encoding is set
    sizeBytes += bytes.length;
    if (sizeBytes > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(bytes);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))) as unknown;
  } catch (cause) {
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'body', reason: 'is not valid JSON in UTF-8' }, cause });
  }
}

function tooLarge(): Error {
  return sandboxErrors.FILE_TOO_LARGE({
    details: { limit_bytes: MAX_BODY_BYTES, hint: 'send the content itself as the body, with ?path=' },
  });
}
