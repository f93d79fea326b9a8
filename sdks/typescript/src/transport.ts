import { errorOfAnswer } from './error-body.ts';
import { NetworkError, TimeoutError, UnexpectedAnswerError } from './errors.ts';
import { parseJson, readText } from './read-body.ts';
import type { OpenSocket } from './open-socket.ts';

/** How the client authenticates. */
export type Credential =
  | { kind: 'none' }
  /** Any bearer token: a platform JWT, `svc_pat_…` or `sat_…`. */
  | { kind: 'token'; token: string }
  /** The browser's cookie session. Changes send the CSRF token from `GET /api/auth/me`. */
  | { kind: 'session'; csrfToken: () => string | null };

/** Connection options of a client. */
export interface TransportOptions {
  /** Origin of the platform, such as `http://127.0.0.1:4000`; a path before `/api` is kept. */
  baseUrl: string;
  credential: Credential;
  /** Time limit of one call, including its response. Defaults to 30,000. */
  timeoutMs?: number;
  /** Maximum response size. Defaults to 16 MiB. */
  maxAnswerBytes?: number;
  fetch?: typeof fetch;
  /** Opens WebSockets where there is no global one (Node.js 20) or to replace it. */
  openSocket?: OpenSocket;
}

/** Last parameter of every SDK method. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

/** A query parameter. Null, undefined and empty strings are omitted. */
export type QueryValue = string | number | boolean | null | undefined;

/** A request to the API. */
export interface CallRequest extends CallOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path with encoded segments (`encodeURIComponent`). */
  path: string;
  /** Absent, null and empty values are omitted. */
  query?: Readonly<Record<string, QueryValue>>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged instead of `body`. Has no time limit unless the call sets one. */
  content?: Content;
  /** Headers in addition to the transport's own. */
  headers?: Readonly<Record<string, string>>;
}

/** A body other than JSON. Streams are sent as they are read, which browsers do not support. */
export interface Content {
  type: string;
  body: Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
}

/** The longest possible timer in JavaScript, 24 days. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/** Makes HTTP calls: credential, time limit, error classes. Has no state besides its options. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** Origin of the platform. */
  get baseUrl(): string {
    return this.#options.baseUrl.replace(/(?<!\/)\/+$/, '');
  }

  /** The `fetch` of all calls. */
  get fetch(): typeof fetch {
    return this.#options.fetch ?? fetch;
  }

  /** Whether the browser's cookie is the credential. */
  get withCookies(): boolean {
    return this.#options.credential.kind === 'session';
  }

  /** The credential of all calls. */
  get credential(): Credential {
    return this.#options.credential;
  }

  /** The port that opens WebSockets, if set. */
  get openSocket(): OpenSocket | undefined {
    return this.#options.openSocket;
  }

  /** Returns the URL and headers of a request, for callers that send other kinds of bodies. */
  prepare(request: CallRequest): { url: string; headers: Record<string, string> } {
    return { url: this.#urlOf(request), headers: this.#headersOf(request) };
  }

  /**
   * Resolves when the response head arrives. The caller reads the body to its end or cancels it. The time limit covers
   * the head only; the signal covers the body too.
   */
  async stream(request: CallRequest): Promise<Response> {
    const timeoutMs = request.timeoutMs ?? this.#options.timeoutMs ?? 30_000;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    const signal = request.signal === undefined ? deadline.signal : AbortSignal.any([request.signal, deadline.signal]);
    try {
      const response = await this.#fetch(request, signal);
      if (response.ok) return response;
      throw errorOfAnswer(response.status, response.headers, parseJson(await this.#readText(response)));
    } catch (error) {
      throw this.#failureOf(request, error, deadline.signal.aborted, timeoutMs);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves with the parsed body, or undefined if empty. `Answer` is the shape that the route guarantees. */
  async call<Answer>(request: CallRequest): Promise<Answer> {
    const usual = request.content === undefined ? (this.#options.timeoutMs ?? 30_000) : NO_LIMIT_MS;
    const timeoutMs = request.timeoutMs ?? usual;
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]);
    try {
      return await this.#exchange<Answer>(request, signal);
    } catch (error) {
      throw this.#failureOf(request, error, deadline.aborted, timeoutMs);
    }
  }

  #failureOf(request: CallRequest, error: unknown, late: boolean, timeoutMs: number): unknown {
    request.signal?.throwIfAborted();
    if (late) {
      return new TimeoutError(`${request.method} ${request.path} took longer than ${timeoutMs} ms`, { cause: error });
    }
    // The only error of fetch itself besides an abort (WHATWG Fetch, 5.6).
    if (error instanceof TypeError) return new NetworkError('The platform cannot be reached', { cause: error });
    return error;
  }

  async #exchange<Answer>(request: CallRequest, signal: AbortSignal): Promise<Answer> {
    const response = await this.#fetch(request, signal);
    const text = await this.#readText(response);
    const body = parseJson(text);
    if (!response.ok) throw errorOfAnswer(response.status, response.headers, body);
    if (body === undefined && text !== '') throw new UnexpectedAnswerError('The answer is not JSON');
    return body as Answer; // the parse: the server's route schema guarantees this shape
  }

  #fetch(request: CallRequest, signal: AbortSignal): Promise<Response> {
    const send = this.fetch;
    return send(this.#urlOf(request), {
      method: request.method,
      headers: this.#headersOf(request),
      body: request.content?.body ?? (request.body === undefined ? null : JSON.stringify(request.body)),
      ...(request.content?.body instanceof ReadableStream ? { duplex: 'half' } : {}),
      credentials: this.withCookies ? 'same-origin' : 'omit',
      redirect: 'error',
      signal,
    });
  }

  #readText(response: Response): Promise<string> {
    return readText(response, this.#options.maxAnswerBytes ?? 16 * 1024 * 1024);
  }

  #urlOf(request: CallRequest): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
    }
    return `${this.baseUrl}${request.path}${query.size === 0 ? '' : `?${query.toString()}`}`;
  }

  #headersOf(request: CallRequest): Record<string, string> {
    const headers: Record<string, string> = { accept: 'application/json', ...request.headers };
    if (request.content !== undefined) headers['content-type'] = request.content.type;
    else if (request.body !== undefined) headers['content-type'] = 'application/json';
    const { credential } = this.#options;
    if (credential.kind === 'token') headers['authorization'] = `Bearer ${credential.token}`;
    if (credential.kind === 'session' && request.method !== 'GET') {
      const token = credential.csrfToken();
      if (token !== null) headers['x-csrf-token'] = token;
    }
    return headers;
  }
}
