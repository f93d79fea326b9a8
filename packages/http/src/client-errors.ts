import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type AppError, toAppError } from '@svc/errors';
import { httpErrors } from './errors.ts';
import type { ErrorRenderer } from './renderers.ts';

/** Maps HTTP parser errors and timeouts to the catalogue. These occur before there is a request to answer. */
export function toClientError(error: Error): AppError {
  const code = 'code' in error ? error.code : '';
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return httpErrors.REQUEST_TIMEOUT({ cause: error });
    case 'HPE_HEADER_OVERFLOW':
      return httpErrors.HEADERS_TOO_LARGE({ cause: error });
    default:
      return httpErrors.INVALID_REQUEST({
        details: { field: 'request', reason: 'it is not valid HTTP' },
        cause: error,
      });
  }
}

/** Node.js emits the same event for resets and failed TLS handshakes, which cannot be answered. */
export function isAboutHttp(error: Error): boolean {
  return 'code' in error && /^(HPE_|ERR_HTTP_)/.test(String(error.code));
}

/** Writes an HTTP error to a socket that has no response object, then closes it. Omits an empty request id. */
export function refuseSocket(socket: Duplex, raw: unknown, requestId: string, render: ErrorRenderer): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const error = toAppError(raw);
  const body = JSON.stringify(render(error, requestId));
  const headers = {
    ...error.headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    ...(requestId === '' ? {} : { 'x-request-id': requestId }),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    date: new Date().toUTCString(),
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}\r\n${head.join('')}\r\n${body}`;
  // The peer may keep its side open forever, so destroy the socket once the response is flushed.
  socket.end(text, () => socket.destroy());
}
