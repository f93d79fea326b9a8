import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { xmlDocument, type XmlContent } from './xml-writer.ts';

export function respondXml(response: ServerResponse, root: string, content: XmlContent, status = 200): void {
  const body = Buffer.from(xmlDocument(root, content, { namespace: true }));
  response.writeHead(status, { 'content-type': 'application/xml', 'content-length': body.length });
  response.end(body);
}

/** Sets headers on a response whose head is written later. */
export function setHeaders(response: ServerResponse, headers: OutgoingHttpHeaders): void {
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) response.setHeader(name, value);
}

/** Responds with a status and no body. 204 and 304 have no length either (RFC 9110 section 8.6). */
export function respondEmpty(response: ServerResponse, status: number, headers: OutgoingHttpHeaders = {}): void {
  const length = status === 204 || status === 304 ? {} : { 'content-length': headers['content-length'] ?? 0 };
  response.writeHead(status, { ...headers, ...length });
  response.end();
}

/**
 * Sends a body of the given length chunk by chunk. Chunk buffers are reused, so the next chunk is requested only after
 * the kernel has taken this one; a slow reader slows the disk reads. Ends early, without an error, if the client
 * disconnects.
 */
export async function respondStream(
  response: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
  lengthBytes: number,
): Promise<void> {
  let unsentBytes = lengthBytes;
  let isGone = false;
  let abort: (() => void) | null = null; // while something is being sent
  const onClose = (): void => {
    isGone = true;
    abort?.();
  };
  const sent = (send: (done: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      abort = () => reject(new Error('the client went away'));
      send((error) => {
        abort = null;
        if (error) reject(error);
        else resolve();
      });
    });
  response.once('close', onClose);
  try {
    for await (const chunk of chunks) {
      if (response.destroyed || isGone) return;
      unsentBytes -= chunk.length;
      await sent((done) => (unsentBytes > 0 ? response.write(chunk, done) : response.end(chunk, done)));
    }
    if (!response.destroyed && !response.writableEnded) await sent((done) => response.end(done));
  } catch (error) {
    if (!isGone) throw error;
  } finally {
    response.off('close', onClose);
  }
}
