import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AppError } from '@svc/errors';
import { errorDocument, type ErrorPlace } from './error-document.ts';

/** How much of a rejected body is still read, so that a client that is still sending can read its response. */
const LINGER_BYTES = 4 * 1024 * 1024;
const LINGER_MS = 2_000;

/** Responds with an error. Reads the rest of an unwanted body for a while, then closes the connection. */
export function respondError(
  incoming: IncomingMessage,
  response: ServerResponse,
  error: AppError,
  place: ErrorPlace,
): void {
  if (response.headersSent) {
    response.destroy(); // truncation is the only way left to signal the failure
    return;
  }
  const { method } = incoming;
  const bodyless = method === 'HEAD' || error.status === 304;
  const body = bodyless ? Buffer.alloc(0) : Buffer.from(errorDocument(error, place));
  const unread = !incoming.complete && hasBody(incoming);
  const { deleteMarker, versionId } = error.details;
  response.writeHead(error.status, {
    ...error.headers,
    ...(deleteMarker === true ? { 'x-amz-delete-marker': 'true' } : {}),
    ...(typeof versionId === 'string' && deleteMarker === true ? { 'x-amz-version-id': versionId } : {}),
    ...(bodyless ? {} : { 'content-type': 'application/xml', 'content-length': body.length }),
    ...(unread ? { connection: 'close' } : {}),
  });
  if (!unread) {
    response.end(body);
    return;
  }
  response.write(body);
  linger(incoming, response);
}

/** Closing a socket with unread bytes resets it, and the reset can overtake the response. */
function linger(incoming: IncomingMessage, response: ServerResponse): void {
  let left = LINGER_BYTES;
  const finish = (): void => {
    clearTimeout(timer);
    incoming.off('data', onData).off('end', finish).off('close', finish).off('error', finish);
    response.end();
    if (!incoming.complete) incoming.socket.destroySoon();
  };
  const onData = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left < 0) finish();
  };
  const timer = setTimeout(finish, LINGER_MS);
  incoming.on('data', onData).on('end', finish).on('close', finish).on('error', finish);
  incoming.resume();
}

function hasBody(incoming: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = incoming.headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}
