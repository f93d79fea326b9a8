import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AppError } from '@svc/errors';
import { requestIdOf } from '@svc/http';
import { storeErrors } from '../errors.ts';
import type { ConnectionTurns } from './connection-turns.ts';
import { errorDocument } from './error-document.ts';

/**
 * Answers what the HTTP parser gave up: a request that is none, a head that is too large or too late, a body that ended
 * early. In the midst of an answer there is no place for another one; then, and where nobody listens, the socket is cut.
 */
export function refuseBrokenRequest(error: Error, socket: Duplex, turns: ConnectionTurns): void {
  const code = 'code' in error ? String(error.code) : '';
  const running = turns.running(socket);
  const isAboutHttp = /^(HPE_|ERR_HTTP_)/.test(code); // others are resets and failed handshakes
  if (!isAboutHttp || running?.response.headersSent === true) {
    socket.destroy();
    return;
  }
  const endedEarly = running !== null && !running.incoming.complete && code === 'HPE_INVALID_EOF_STATE';
  refuseSocket(socket, endedEarly ? storeErrors.IncompleteBody() : brokenRequest(code));
}

/** Writes an S3 error where no response object can, and closes the connection. */
export function refuseSocket(socket: Duplex, error: AppError): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = requestIdOf({});
  const body = errorDocument(error, { requestId, resource: '/' });
  const headers = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}`,
    'content-type: application/xml',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-amz-request-id: ${requestId}`,
    `date: ${new Date().toUTCString()}`,
    'connection: close',
  ];
  socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function brokenRequest(code: string): AppError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return storeErrors.RequestTimeout();
    case 'HPE_HEADER_OVERFLOW':
      return storeErrors.RequestHeaderSectionTooLarge();
    default:
      return storeErrors.BadRequest({ details: { reason: 'An error occurred when parsing the HTTP request.' } });
  }
}
