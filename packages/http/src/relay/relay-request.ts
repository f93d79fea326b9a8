import {
  request as sendRequest,
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { request as sendSecureRequest } from 'node:https';
import type { RequestOptions } from 'node:https';
import {
  endToEndHeaders,
  endToEndTrailers,
  framingHeaders,
  hasBody,
  type DropRule,
  type HeaderList,
} from './relay-headers.ts';

/** Where an exchange goes on, and as what. */
export interface RelayTarget {
  /** Gives the connections; false = one for this exchange alone. TLS needs `protocol: 'https:'` in `connection`. */
  agent: Agent | false;
  connection?: RequestOptions;
  path: string;
  /** All headers but those of framing and connection. */
  headers: HeaderList;
  /** Trailers of the request that may not pass: what `headers` were freed of must not come after the body. */
  dropsTrailer?: DropRule;
  /** From the end of the request's body to the head of the answer. */
  timeoutMs: number;
  /** Last word on the headers of the answer. */
  answerHeaders?: (headers: HeaderList) => HeaderList;
  onAnswer?: (status: number) => void;
}

/** The head of the answer did not come in time. */
export class RelayTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`no answer in ${timeoutMs} ms`);
    this.name = 'RelayTimeout';
  }
}

const MAX_HEADER_BYTES = 64 * 1024;
/** Servers of HTTP/1.0 never say `100 Continue`; clients wait about so long, too (RFC 9110, section 10.1.1). */
const CONTINUE_PATIENCE_MS = 1000;
/** May be sent again when the kept connection turned out to be closed: nothing of it was looked at, or it changes nothing. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Passes a request on and its answer back. Rejects only while nothing of an answer was written: the caller answers then.
 * Later faults cut the connection, which is how HTTP/1.1 says that a body is not whole.
 */
export async function relayRequest(
  request: IncomingMessage,
  response: ServerResponse,
  target: RelayTarget,
): Promise<void> {
  const isRepeatable = REPEATABLE.has(request.method ?? '') && !hasBody(request);
  for (;;) {
    const outgoing = send(request, target);
    try {
      return await exchange(request, response, outgoing, target);
    } catch (error) {
      const wasKept = outgoing.reusedSocket && !(error instanceof RelayTimeout);
      if (!isRepeatable || !wasKept || response.destroyed || response.headersSent) throw error;
    }
  }
}

/** Sends the head of the request on; the body is the caller's. `extra` are headers of the connection, for an upgrade. */
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
    // As a list: order, case and repetitions are those of the client.
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
    outgoing.once('error', (error) => {
      deadline.stop();
      response.off('close', left);
      if (response.headersSent) response.destroy(error);
      else if (!response.destroyed) return reject(error);
      resolve();
    });
    outgoing.once('response', (incoming) => {
      deadline.stop();
      passAnswer(incoming, response, target);
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
    // A client that leaves in the middle: what it sent must not look whole.
    request.once('error', () => outgoing.destroy());
  };
  // The client waits for the word of whoever will read: it is asked for the body when that one says `100 Continue`.
  if (!/100-continue/i.test(String(request.headers.expect ?? ''))) return begin();
  const patience = setTimeout(begin, CONTINUE_PATIENCE_MS);
  outgoing.once('continue', begin);
  for (const event of ['continue', 'response', 'close']) outgoing.once(event, () => clearTimeout(patience));
}

function passAnswer(incoming: IncomingMessage, response: ServerResponse, target: RelayTarget): void {
  const headers = endToEndHeaders(incoming);
  const status = incoming.statusCode ?? 502;
  target.onAnswer?.(status);
  response.writeHead(status, incoming.statusMessage ?? '', target.answerHeaders?.(headers) ?? headers);
  // At once: a watch or a stream of events may send its first byte much later than its head.
  response.flushHeaders();
  incoming.pipe(response, { end: false });
  incoming.once('end', () => {
    if (Object.keys(incoming.trailers).length > 0) response.addTrailers(incoming.trailers);
    response.end();
  });
  incoming.once('close', () => {
    if (!incoming.complete) response.destroy();
  });
}

/** One timer that ends with the head of the answer. */
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
