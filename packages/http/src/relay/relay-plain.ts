import type { IncomingMessage, ServerResponse } from 'node:http';
import { AnswerWriter } from './answer-writer.ts';
import type { ExchangeEvents, PlainConnection } from './plain-connection.ts';
import type { PlainConnections } from './plain-connections.ts';
import { hasBody } from './relay-headers.ts';
import { RelayTimeout, type RelayTarget } from './relay-request.ts';

export type PlainTarget = Omit<RelayTarget, 'agent' | 'connection'> & { connections: PlainConnections };

/** May be sent again when the kept connection turned out to be closed: it changes nothing. */
const PLAIN: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const PATH = /^[\x21-\x7e\x80-\xff]+$/;

/** Most requests: they have no body, ask for no other protocol and change nothing. */
export function isPlain(request: IncomingMessage): boolean {
  const { headers, method = '' } = request;
  return PLAIN.has(method) && !hasBody(request) && headers.expect === undefined && headers.upgrade === undefined;
}

/**
 * `relayRequest` for plain requests, without a client of `node:http` in between: a third of the work of a small request.
 * Rejects only while nothing of an answer was written: the caller answers then.
 */
export async function relayPlain(
  request: IncomingMessage,
  response: ServerResponse,
  target: PlainTarget,
): Promise<void> {
  if (!PATH.test(target.path)) throw new Error('the path has characters that no request line may have');
  const head = requestHead(request, target);
  for (;;) {
    const { connection, isKept } = target.connections.take();
    const isDone = await exchange(connection, head, request, response, target, isKept);
    if (isDone || response.destroyed) return;
  }
}

function requestHead(request: IncomingMessage, { path, headers }: PlainTarget): string {
  let head = `${request.method ?? 'GET'} ${path} HTTP/1.1\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`;
  if (/\btrailers\b/i.test(String(request.headers.te ?? ''))) head += 'TE: trailers\r\n';
  return `${head}Connection: keep-alive\r\n\r\n`;
}

/** False when the request is to be sent again. */
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
        resolve(true);
      },
      failed: (error, atOnce) => {
        settle();
        if (response.headersSent) {
          response.destroy(error); // how HTTP/1.1 says that a body is not whole
          resolve(true);
        } else if (isKept && atOnce) resolve(false);
        else reject(error);
      },
    };
    connection.ask(head, request.method ?? 'GET', events);
  });
}
