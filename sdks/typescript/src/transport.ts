import { errorOfAnswer } from './error-body.ts';
import { NetworkError, TimeoutError, UnexpectedAnswerError } from './errors.ts';
import { parseJson, readText } from './read-body.ts';

/** How the caller proves who it is. */
export type Credential =
  | { kind: 'none' }
  /** Any bearer token: a platform JWT, `svc_pat_…` or `sat_…`. */
  | { kind: 'token'; token: string }
  /** A browser's cookie session. Changes carry the CSRF token, which `GET /api/auth/me` hands out. */
  | { kind: 'session'; csrfToken: () => string | null };

export interface TransportOptions {
  /** Origin of the platform, such as `http://127.0.0.1:4000`; a path in front of `/api` is kept. */
  baseUrl: string;
  credential: Credential;
  /** Time for one call, answer included. Default 30,000. */
  timeoutMs?: number;
  /** Largest answer that is read. Default 16 MiB. */
  maxAnswerBytes?: number;
  fetch?: typeof fetch;
}

/** What every method of the SDK takes as its last argument. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

export type QueryValue = string | number | boolean | null | undefined;

export interface CallRequest extends CallOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, with its parts already encoded (`encodeURIComponent`). */
  path: string;
  /** Absent, null and empty values are left out. */
  query?: Readonly<Record<string, QueryValue>>;
  /** Sent as JSON. */
  body?: unknown;
}

/** One HTTP call: credential, time limit, error classes. Holds no state besides its options. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /** Resolves with the parsed body (undefined for an empty one). `Answer` is the shape that the route promises. */
  async call<Answer>(request: CallRequest): Promise<Answer> {
    const timeoutMs = request.timeoutMs ?? this.#options.timeoutMs ?? 30_000;
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]);
    try {
      return await this.#exchange<Answer>(request, signal);
    } catch (error) {
      request.signal?.throwIfAborted();
      if (deadline.aborted) {
        throw new TimeoutError(`${request.method} ${request.path} took longer than ${timeoutMs} ms`, { cause: error });
      }
      // The only thing that fetch itself throws besides an abort (WHATWG Fetch, 5.6).
      if (error instanceof TypeError) throw new NetworkError('The platform cannot be reached', { cause: error });
      throw error;
    }
  }

  async #exchange<Answer>(request: CallRequest, signal: AbortSignal): Promise<Answer> {
    const send = this.#options.fetch ?? fetch;
    const response = await send(this.#urlOf(request), {
      method: request.method,
      headers: this.#headersOf(request),
      body: request.body === undefined ? null : JSON.stringify(request.body),
      credentials: this.#options.credential.kind === 'session' ? 'same-origin' : 'omit',
      redirect: 'error',
      signal,
    });
    const text = await readText(response, this.#options.maxAnswerBytes ?? 16 * 1024 * 1024);
    const body = parseJson(text);
    if (!response.ok) throw errorOfAnswer(response.status, response.headers, body);
    if (body === undefined && text !== '') throw new UnexpectedAnswerError('The answer is not JSON');
    return body as Answer; // the parse: the route's schema on the server is what promises this shape
  }

  #urlOf(request: CallRequest): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
    }
    const base = this.#options.baseUrl.replace(/\/+$/, '');
    return `${base}${request.path}${query.size === 0 ? '' : `?${query.toString()}`}`;
  }

  #headersOf(request: CallRequest): Record<string, string> {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (request.body !== undefined) headers['content-type'] = 'application/json';
    const { credential } = this.#options;
    if (credential.kind === 'token') headers['authorization'] = `Bearer ${credential.token}`;
    if (credential.kind === 'session' && request.method !== 'GET') {
      const token = credential.csrfToken();
      if (token !== null) headers['x-csrf-token'] = token;
    }
    return headers;
  }
}
