import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { xmlDocument, type XmlContent } from './xml-writer.ts';

export function respondXml(response: ServerResponse, root: string, content: XmlContent, status = 200): void {
  const body = Buffer.from(xmlDocument(root, content, { namespace: true }));
  response.writeHead(status, { 'content-type': 'application/xml', 'content-length': body.length });
  response.end(body);
}

/** Headers of an answer whose head is written later. */
export function setHeaders(response: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
}

/** A status without a body. 204 and 304 have no length either (RFC 9110 section 8.6). */
export function respondEmpty(response: ServerResponse, status: number, headers: OutgoingHttpHeaders = {}): void {
  const length = status === 204 || status === 304 ? {} : { 'content-length': headers['content-length'] ?? 0 };
  response.writeHead(status, { ...headers, ...length });
  response.end();
}

/**
 * Sends a body chunk by chunk. Each chunk's buffer is used again afterwards, so the next is asked for only when the
 * kernel has this one; a reader that stops reading stops the disk. Ends early, and quietly, when the client is gone.
 */
export async function respondStream(response: ServerResponse, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  response.once('close', onClose);
  try {
    for await (const chunk of chunks) {
      if (response.destroyed || gone.signal.aborted) return;
      await write(response, chunk, gone.signal);
    }
    response.end();
    await once(response, 'finish', { signal: gone.signal });
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  } finally {
    response.off('close', onClose);
  }
}

function write(response: ServerResponse, chunk: Uint8Array, gone: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error('the client went away'));
    gone.addEventListener('abort', onAbort, { once: true });
    response.write(chunk, (error) => {
      gone.removeEventListener('abort', onAbort);
      if (error) reject(error);
      else resolve();
    });
  });
}
