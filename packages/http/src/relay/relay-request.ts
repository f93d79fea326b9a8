import {
  request as sendRequest,
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { request as sendSecureRequest } from 'node:https';
import type { RequestOptions } from 'node:https';
import { failUnanswered } from '@svc/runtime';
import { DEFAULT_LISTENER_LIMITS } from '../listener-limits.ts';
import { whenClosed } from '../when-closed.ts';
import { MalformedAnswer } from './answer-head.ts';
import {
  endToEndHeaders,
  endToEndTrailers,
  framingHeaders,
  hasBody,
  type DropRule,
  type HeaderList,
} from './relay-headers.ts';

/** Destination of a relayed request. */
export interface RelayTarget {
  /**
   * Provides connections; false = one connection for this exchange only. TLS requires `protocol: 'https:'` in
   * `connection`.
   */
  agent: Agent | false;
  connection?: RequestOptions;
  path: string;
  /** All headers except framing and connection headers. */
  headers: HeaderList;
  /** Request trailers to drop: headers removed from `headers` must not reappear after the body. */
  dropsTrailer?: DropRule;
  /** From the end of the request's body to the head of the response. */
  timeoutMs: number;
  /** Rewrites the response headers. */
  answerHeaders?: (headers: HeaderList) => HeaderList;
  onAnswer?: (status: number) => void;
}

/** The response head did not arrive in time. */
export class RelayTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`no answer in ${timeoutMs} ms`);
    this.name = 'RelayTimeout';
  }
}

const MAX_HEADER_BYTES = 64 * 1024;
/** HTTP/1.0 servers never send `100 Continue`; clients wait about this long as well (RFC 9110, section 10.1.1). */
const CONTINUE_PATIENCE_MS = 1000;
/** Safe to retry if a kept connection turns out to be closed: the server processed nothing, or the method is safe. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Relays a request and its response. Rejects only before any of the response is written, so that the caller can answer;
 * resolves when the client has the response or is gone. Later errors cut the connection, which signals a truncated body in HTTP/1.1.
 */
export async function relayRequest(
  request: IncomingMessage,
  response: ServerResponse,
  target: RelayTarget,
): Promise<void> {
  const isRepeatable = REPEATABLE.has(request.method ?? '') && !hasBody(request);
  // `close` is not emitted again for a client that has already left.
  while (!response.destroyed) {
    const outgoing = send(request, target);
    try {
      return await exchange(request, response, outgoing, target);
    } catch (error) {
      const wasKept = outgoing.reusedSocket && !(error instanceof RelayTimeout);
      if (!isRepeatable || !wasKept || response.destroyed || response.headersSent) throw error;
    }
  }
}

/** Sends the request head; the caller sends the body. `extra` adds connection headers, for an upgrade. */
export function send(request: IncomingMessage, target: RelayTarget, extra: HeaderList = []): ClientRequest {
  const { agent, connection, path, headers } = target;
  const sender = connection?.protocol === 'https:' ? sendSecureRequest : sendRequest;
  const method = request.method ?? 'GET';
  return sender({
    ...connection,
    agent,
    method,
    path,
    setHost: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // A list preserves the client's order, case and repetitions.
    headers: [...headers, ...framingHeaders(request), ...extra],
  });
}

function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  outgoing: ClientRequest,
  target: RelayTarget,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const deadline = new Deadline(target.timeoutMs, (error) => outgoing.destroy(error));
    const left = (): void => {
      deadline.stop();
      outgoing.destroy();
      resolve();
    };
    response.once('close', left);
    failUnanswered(outgoing);
    outgoing.once('error', (error) => {
      deadline.stop();
      response.off('close', left);
      if (response.headersSent) response.destroy(error);
      else if (!response.destroyed) return reject(error);
      resolve();
    });
    outgoing.once('response', (incoming) => {
      deadline.stop();
      if (hasStatusLine(incoming)) passAnswer(incoming, response, target);
      else outgoing.destroy(new MalformedAnswer('its first line is no status line'));
    });
    passBody(request, outgoing, target.dropsTrailer, () => deadline.start());
  });
}

function passBody(
  request: IncomingMessage,
  outgoing: ClientRequest,
  dropsTrailer: DropRule | undefined,
  sent: () => void,
): void {
  if (!hasBody(request)) {
    outgoing.end();
    sent();
    return;
  }
  let hasBegun = false;
  const begin = (): void => {
    if (hasBegun) return;
    hasBegun = true;
    request.pipe(outgoing, { end: false });
    request.once('end', () => {
      const trailers = endToEndTrailers(request, dropsTrailer);
      if (trailers.length > 0) outgoing.addTrailers(trailers);
      outgoing.end();
      sent();
    });
    // If the client disconnects, its partial body must not look complete.
    request.once('error', () => outgoing.destroy());
  };
  // The client waits for the server: ask it for the body when the server sends `100 Continue`.
  if (!/100-continue/i.test(String(request.headers.expect ?? ''))) return begin();
  const patience = setTimeout(begin, CONTINUE_PATIENCE_MS);
  outgoing.once('continue', begin);
  for (const event of ['continue', 'response', 'close']) outgoing.once(event, () => clearTimeout(patience));
}

/** The parser lets through a status and a reason that no response can have. */
function hasStatusLine({ statusCode = 0, statusMessage = '' }: IncomingMessage): boolean {
  return statusCode >= 200 && /^[\t\x20-\x7e\x80-\xff]*$/.test(statusMessage);
}

function passAnswer(incoming: IncomingMessage, response: ServerResponse, target: RelayTarget): void {
  const headers = endToEndHeaders(incoming);
  const status = incoming.statusCode ?? 502;
  target.onAnswer?.(status);
  response.writeHead(status, incoming.statusMessage ?? '', target.answerHeaders?.(headers) ?? headers);
  // Flush after the bytes that arrived with the head, which saves a write: a watch or an event stream may send its
  // first byte much later.
  const flush = setImmediate(() => response.flushHeaders());
  incoming.once('data', () => clearImmediate(flush));
  incoming.once('close', () => clearImmediate(flush));
  incoming.pipe(response, { end: false });
  incoming.once('end', () => {
    const trailers = endToEndTrailers(incoming);
    if (trailers.length > 0) response.addTrailers(trailers);
    response.end();
    limitSlowReader(response);
  });
  incoming.once('close', () => {
    if (!incoming.complete) response.destroy();
  });
}

/** Destroys a response that its client stops reading. For responses that have arrived completely: others may be silent. */
export function limitSlowReader(response: ServerResponse): void {
  let timer: NodeJS.Timeout | undefined;
  // Not `setTimeout` of the response: its connection may be a stream that has none.
  const wait = (): void => {
    const unreadBytes = response.writableLength;
    const check = (): void => (response.writableLength === unreadBytes ? void response.destroy() : wait());
    timer = setTimeout(check, DEFAULT_LISTENER_LIMITS.idleTimeoutMs).unref();
  };
  wait();
  whenClosed(response, () => clearTimeout(timer));
}

/** A timeout that ends when the response head arrives. */
class Deadline {
  readonly #timeoutMs: number;
  readonly #onLate: (error: RelayTimeout) => void;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(timeoutMs: number, onLate: (error: RelayTimeout) => void) {
    this.#timeoutMs = timeoutMs;
    this.#onLate = onLate;
  }

  start(): void {
    if (this.#isOver || this.#timeoutMs === 0) return;
    this.#timer = setTimeout(() => this.#onLate(new RelayTimeout(this.#timeoutMs)), this.#timeoutMs);
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }
}
