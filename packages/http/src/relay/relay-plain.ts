import type { IncomingMessage, ServerResponse } from 'node:http';
import { whenClosed } from '../when-closed.ts';
import { AnswerWriter } from './answer-writer.ts';
import type { ExchangeEvents, PlainConnection, SentRequest } from './plain-connection.ts';
import type { PlainConnections } from './plain-connections.ts';
import { hasBody } from './relay-headers.ts';
import { limitSlowReader, RelayTimeout, type RelayTarget } from './relay-request.ts';

/** Destination of a plain request: a `RelayTarget` with this relay's own connection pool instead of an agent. */
export type PlainTarget = Omit<RelayTarget, 'agent' | 'connection'> & { connections: PlainConnections };

/** Safe to retry if a kept connection turns out to be closed: these methods change nothing. */
const PLAIN: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** A larger body streams, so that many of them do not fill the memory. */
const SMALL_BODY_BYTES = 16 * 1024;
const PATH = /^[\x21-\x7e\x80-\xff]+$/;

/** Matches most requests: no body, no upgrade, and a safe method. */
export function isPlain(request: IncomingMessage): boolean {
  return PLAIN.has(request.method ?? '') && !hasBody(request) && isOrdinary(request);
}

/** Matches most other requests: a body of a known small length, and no upgrade. */
export function hasSmallBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return (
    coding === undefined && /^[1-9]\d*$/.test(length ?? '') && Number(length) <= SMALL_BODY_BYTES && isOrdinary(request)
  );
}

function isOrdinary({ headers }: IncomingMessage): boolean {
  return headers.expect === undefined && headers.upgrade === undefined;
}

/**
 * Reads a small body whole, as `hasSmallBody` announced it. Null if the response ended before it was there: the client left, or was
 * answered meanwhile. The response says so in any case; the request emits nothing if it was destroyed before, nor if it was answered.
 */
export function readSmallBody(request: IncomingMessage, response: ServerResponse): Promise<Buffer | null> {
  // One buffer, since a body that comes byte by byte would take hundreds of bytes for each piece.
  const body = Buffer.allocUnsafe(Number(request.headers['content-length']));
  let length = 0;
  return new Promise((resolve) => {
    whenClosed(response, () => resolve(null));
    request.on('data', (piece: Buffer) => {
      length += piece.copy(body, length);
    });
    request.once('end', () => resolve(body.subarray(0, length)));
    request.once('error', () => resolve(null));
  });
}

/**
 * `relayRequest` for plain requests, and with `body` for those with a small one, without `node:http` as the client: a
 * third of the work of a small request. Rejects only before any of the response is written, so that the caller can
 * answer. Resolves when the client has the response or is gone.
 */
export async function relayPlain(
  request: IncomingMessage,
  response: ServerResponse,
  target: PlainTarget,
  body?: Buffer,
): Promise<void> {
  if (!PATH.test(target.path)) throw new Error('the path has characters that no request line may have');
  const head = requestHead(request, target);
  const sent = { method: request.method ?? 'GET', head, ...(body === undefined ? {} : { body }) };
  const isRepeatable = isPlain(request);
  // `close` is not emitted again for a client that has already left.
  while (!response.destroyed) {
    const { connection, isKept } = target.connections.take();
    if (await exchange(connection, sent, response, target, isKept && isRepeatable)) return;
  }
}

function requestHead(request: IncomingMessage, { path, headers }: PlainTarget): string {
  let head = `${request.method ?? 'GET'} ${path} HTTP/1.1\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`;
  if (/\btrailers\b/i.test(String(request.headers.te ?? ''))) head += 'TE: trailers\r\n';
  return `${head}Connection: keep-alive\r\n\r\n`;
}

/** Returns false if the request should be retried, which `isRepeatable` allows. */
function exchange(
  connection: PlainConnection,
  sent: SentRequest,
  response: ServerResponse,
  target: PlainTarget,
  isRepeatable: boolean,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const isLate = (): void => {
      settle();
      connection.destroy();
      reject(new RelayTimeout(target.timeoutMs));
    };
    const deadline = target.timeoutMs === 0 ? undefined : setTimeout(isLate, target.timeoutMs);
    const left = (): void => {
      settle();
      connection.destroy();
      resolve(true);
    };
    const settle = (): void => {
      clearTimeout(deadline);
      response.off('close', left);
    };
    response.on('close', left);
    const answer = new AnswerWriter(response, target, connection);
    const events: ExchangeEvents = {
      head: (received) => {
        clearTimeout(deadline);
        answer.begin(received);
      },
      piece: (bytes) => answer.write(bytes),
      whole: (trailers) => {
        settle();
        answer.end(trailers);
        limitSlowReader(response);
        whenClosed(response, () => resolve(true));
      },
      failed: (error, atOnce) => {
        settle();
        if (response.headersSent) {
          response.destroy(error); // signals a truncated body in HTTP/1.1
          resolve(true);
        } else if (isRepeatable && atOnce) resolve(false);
        else reject(error);
      },
    };
    connection.ask(sent, events);
  });
}
