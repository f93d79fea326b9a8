import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { failUnanswered } from '@svc/runtime';
import type { EngineEndpoint } from './engine-endpoint.ts';

/** Newest API version that we use; the engine's own version may be lower. */
const NEWEST_KNOWN: readonly [number, number] = [1, 47];
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_SOCKETS = 64;

/** The engine rejected a request; `status` is the HTTP status. */
export class EngineRefusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = 'EngineRefusal';
    this.status = status;
  }
}

/** The engine is unreachable, or the connection was lost. */
export class EngineUnreachable extends Error {}

export interface EngineRequest {
  readonly query?: Readonly<Record<string, string | number | boolean | object>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

type Fields = Readonly<Record<string, unknown>>;

/** The part of the Docker Engine API (https://docs.docker.com/reference/api/engine/) that sandboxes need. */
export class EngineClient {
  readonly #endpoint: EngineEndpoint;
  readonly #agent: http.Agent;
  #prefix = '';

  constructor(endpoint: EngineEndpoint) {
    this.#endpoint = endpoint;
    const options = { keepAlive: true, maxSockets: MAX_SOCKETS };
    this.#agent = secure(endpoint) ? new https.Agent(options) : new http.Agent(options);
  }

  /** Negotiates the API version. Returns the response of `/version`. */
  async greet(signal: AbortSignal): Promise<Fields> {
    this.#prefix = '';
    const version = asFields(await this.json('GET', '/version', { signal }));
    const [major = 1, minor = 41] = parseText(version['ApiVersion'], '1.41').split('.').map(Number);
    const newer = major > NEWEST_KNOWN[0] || (major === NEWEST_KNOWN[0] && minor > NEWEST_KNOWN[1]);
    this.#prefix = `/v${newer ? NEWEST_KNOWN.join('.') : `${major}.${minor}`}`;
    return version;
  }

  /**
   * Sends a request and returns the JSON response, or null if it is empty. Throws EngineRefusal and EngineUnreachable.
   */
  async json(method: string, path: string, request: EngineRequest): Promise<unknown> {
    const response = await this.#send(method, path, request);
    const text = await readText(response);
    if (refused(response)) throw new EngineRefusal(response.statusCode ?? 0, parseMessage(text));
    return text.trim() === '' ? null : (JSON.parse(text) as unknown);
  }

  /** Returns only the response headers. */
  async head(path: string, request: EngineRequest): Promise<http.IncomingHttpHeaders> {
    const response = await this.#send('HEAD', path, request);
    response.resume();
    if (refused(response)) throw new EngineRefusal(response.statusCode ?? 0, `status ${response.statusCode}`);
    return response.headers;
  }

  /** Sends a request with a streamed body and response. Read the response to its end or destroy it. */
  async stream(
    method: string,
    path: string,
    request: Omit<EngineRequest, 'body'> & { body?: Readable },
  ): Promise<Readable> {
    const response = await this.#send(method, path, request);
    if (refused(response)) throw new EngineRefusal(response.statusCode ?? 0, parseMessage(await readText(response)));
    return response;
  }

  /** Upgrades a request's connection to a raw one (`Upgrade: tcp`). */
  async hijack(path: string, request: EngineRequest): Promise<{ socket: Duplex; head: Buffer }> {
    const headers = { ...request.headers, connection: 'Upgrade', upgrade: 'tcp' };
    // Aborting the signal later must not close the upgraded connection.
    const opening = new AbortController();
    const abort = (): void => opening.abort(request.signal.reason);
    request.signal.throwIfAborted();
    request.signal.addEventListener('abort', abort, { once: true });
    const outgoing = this.#open('POST', path, { ...request, headers, signal: opening.signal });
    return new Promise<{ socket: Duplex; head: Buffer }>((resolve, reject) => {
      outgoing.once('upgrade', (_response, socket: Duplex, head: Buffer) => resolve({ socket, head }));
      outgoing.once('response', (response) => {
        readText(response).then(
          (text) => reject(new EngineRefusal(response.statusCode ?? 0, parseMessage(text))),
          (error: unknown) => reject(unreachable(error)),
        );
      });
      outgoing.once('error', (error) => reject(unreachable(error)));
      outgoing.end(request.body === undefined ? undefined : JSON.stringify(request.body));
    }).finally(() => request.signal.removeEventListener('abort', abort));
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send(
    method: string,
    path: string,
    { body, ...request }: Omit<EngineRequest, 'body'> & { body?: unknown },
  ): Promise<IncomingMessage> {
    const streamed = isReadable(body);
    const outgoing = this.#open(method, path, {
      ...request,
      headers: { ...request.headers, ...(streamed ? { 'content-type': 'application/x-tar' } : {}) },
      ...(streamed ? {} : { body }),
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      failUnanswered(outgoing);
      outgoing.once('response', resolve);
      outgoing.once('error', (error) => reject(unreachable(error)));
    });
    answered.catch(() => undefined); // awaited below, after the body
    if (streamed) {
      // An engine that rejects a request early stops reading; its response has the reason.
      await pipeline(body, outgoing).catch((error: unknown) => {
        if (request.signal.aborted) throw error;
      });
    } else outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    return answered;
  }

  #open(method: string, path: string, { query = {}, body, headers = {}, signal }: EngineRequest): ClientRequest {
    signal.throwIfAborted();
    const { tls, ...address } = 'socketPath' in this.#endpoint ? { ...this.#endpoint, tls: null } : this.#endpoint;
    const options: RequestOptions & https.RequestOptions = {
      ...address,
      ...tls,
      agent: this.#agent,
      method,
      path: `${this.#prefix}${path}${renderQuery(query)}`,
      headers: { host: 'docker', ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      signal,
    };
    return tls === null ? http.request(options) : https.request(options);
  }
}

/** The fields of a JSON object. Engine responses are checked where they are used. */
export function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** Returns a text field, or `otherwise` if the engine omitted it. */
export function parseText(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

export function isMissing(error: unknown): boolean {
  return error instanceof EngineRefusal && error.status === 404;
}

export function isConflict(error: unknown): boolean {
  return error instanceof EngineRefusal && error.status === 409;
}

function secure(endpoint: EngineEndpoint): boolean {
  return 'tls' in endpoint && endpoint.tls !== null;
}

function isReadable(value: unknown): value is Readable {
  return typeof value === 'object' && value !== null && 'pipe' in value;
}

function refused({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 400;
}

function renderQuery(query: NonNullable<EngineRequest['query']>): string {
  const parts = Object.entries(query).map(([name, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return `${name}=${encodeURIComponent(text)}`;
  });
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new EngineUnreachable('the engine answered more than is possible');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseMessage(text: string): string {
  try {
    const { message } = asFields(JSON.parse(text));
    if (typeof message === 'string') return message.slice(0, 1000);
  } catch {
    // not JSON: return the raw text
  }
  return text.slice(0, 1000);
}

function unreachable(error: unknown): Error {
  if (error instanceof Error && error.name === 'AbortError') return error;
  return new EngineUnreachable(error instanceof Error ? error.message : String(error), { cause: error });
}
