import type { IncomingMessage, ServerResponse } from 'node:http';
import { whenClosed } from '../when-closed.ts';
import { AnswerWriter } from './answer-writer.ts';
import type { ExchangeEvents, PlainConnection } from './plain-connection.ts';
import type { PlainConnections } from './plain-connections.ts';
import { hasBody } from './relay-headers.ts';
import { limitSlowReader, RelayTimeout, type RelayTarget } from './relay-request.ts';

/** Destination of a plain request: a `RelayTarget` with this relay's own connection pool instead of an agent. */
export type PlainTarget = Omit<RelayTarget, 'agent' | 'connection'> & { connections: PlainConnections };

/** Safe to retry if a kept connection turns out to be closed: these methods change nothing. */
const PLAIN: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const PATH = /^[\x21-\x7e\x80-\xff]+$/;

/** Matches most requests: no body, no upgrade, and a safe method. */
export function isPlain(request: IncomingMessage): boolean {
  const { headers, method = '' } = request;
  return PLAIN.has(method) && !hasBody(request) && headers.expect === undefined && headers.upgrade === undefined;
}

/**
 * `relayRequest` for plain requests, without `node:http` as the client: a third of the work of a small request. Rejects
 * only before any of the response is written, so that the caller can answer. Resolves when the client has the response
 * or is gone.
 */
export async function relayPlain(
  request: IncomingMessage,
  response: ServerResponse,
  target: PlainTarget,
): Promise<void> {
  if (!PATH.test(target.path)) throw new Error('the path has characters that no request line may have');
  const head = requestHead(request, target);
  // `close` is not emitted again for a client that has already left.
  while (!response.destroyed) {
    const { connection, isKept } = target.connections.take();
    if (await exchange(connection, head, request, response, target, isKept)) return;
  }
}

function requestHead(request: IncomingMessage, { path, headers }: PlainTarget): string {
  let head = `${request.method ?? 'GET'} ${path} HTTP/1.1\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`;
  if (/\btrailers\b/i.test(String(request.headers.te ?? ''))) head += 'TE: trailers\r\n';
  return `${head}Connection: keep-alive\r\n\r\n`;
}

/** Returns false if the request should be retried. */
function exchange(
  connection: PlainConnection,
  head: string,
  request: IncomingMessage,
  response: ServerResponse,
  target: PlainTarget,
  isKept: boolean,
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
        } else if (isKept && atOnce) resolve(false);
        else reject(error);
      },
    };
    connection.ask(head, request.method ?? 'GET', events);
  });
}
