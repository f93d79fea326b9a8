import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AppError } from '@svc/errors';
import { resolveRequestId } from '@svc/http';
import { storeErrors } from '../errors.ts';
import type { ConnectionTurns } from './connection-turns.ts';
import { errorDocument } from './error-document.ts';

/**
 * Answers what the HTTP parser rejected: malformed requests, headers that are too large or too late, bodies that end
 * early. Destroys the socket if a response is already under way or the error is not about HTTP.
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

/** Writes an S3 error to a socket that has no response object, and closes the connection. */
export function refuseSocket(socket: Duplex, error: AppError): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = resolveRequestId({});
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
