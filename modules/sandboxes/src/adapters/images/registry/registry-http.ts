import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { failUnanswered } from '@svc/runtime';
import { RegistryFailure } from './registry-failure.ts';

const MAX_REDIRECTS = 5;
const MAX_SOCKETS = 8;
/** Limits for the connection and the start of a response: an unreachable registry must not delay the next source. */
const ANSWER_TIMEOUT_MS = 20_000;
const CONNECT_TIMEOUT_MS = 7_000;
/** A body without data for this long is aborted (and resumed). */
const IDLE_TIMEOUT_MS = 30_000;

export interface RegistryHttpOptions {
  /** Additional CA certificates in PEM, for private registries. */
  readonly ca?: string | undefined;
  /** `http://proxy:3128` */
  readonly proxy?: string | undefined;
}

export interface RegistryAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Read it to its end or destroy it. */
  readonly body: IncomingMessage;
}

/** HTTP requests to one registry and to its redirect targets; owns the connections. */
export class RegistryHttp {
  readonly #plain: HttpAgent;
  readonly #secure: HttpsAgent;

  constructor({ ca, proxy }: RegistryHttpOptions = {}) {
    const shared = { keepAlive: true, maxSockets: MAX_SOCKETS, ...(proxy === undefined ? {} : proxyFor(proxy)) };
    this.#plain = new HttpAgent(shared);
    this.#secure = new HttpsAgent({ ...shared, ...(ca === undefined ? {} : { ca }) });
  }

  /** Follows redirects; credentials are sent only to their own host. Throws `RegistryFailure`. */
  async get(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<RegistryAnswer> {
    let at = url;
    let sent = headers;
    for (let redirects = 0; ; redirects += 1) {
      const body = await this.#send(at, sent, signal);
      const status = body.statusCode ?? 0;
      const location = body.headers.location;
      if (status < 300 || status >= 400 || status === 304 || location === undefined) {
        return { status, headers: body.headers, body };
      }
      body.destroy();
      if (redirects === MAX_REDIRECTS) throw new RegistryFailure(`${url.host} redirects without end`);
      const next = URL.parse(location, at.href);
      if (next === null || !['http:', 'https:'].includes(next.protocol)) {
        throw new RegistryFailure(`${at.host} redirects to no web address`);
      }
      if (at.protocol === 'https:' && next.protocol === 'http:') {
        throw new RegistryFailure(`${at.host} redirects to an address without TLS`);
      }
      if (next.host !== at.host) sent = withoutCredentials(sent);
      at = next;
    }
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }

  #send(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        reject(signal.aborted ? signal.reason : unreachable(url, error));
      };
      const options = { headers: { 'user-agent': 'svc', ...headers }, signal };
      const request =
        url.protocol === 'https:'
          ? httpsRequest(url, { ...options, agent: this.#secure })
          : httpRequest(url, { ...options, agent: this.#plain });
      failUnanswered(request);
      const late = setTimeout(() => request.destroy(new Error('it does not answer')), ANSWER_TIMEOUT_MS);
      const unconnected = setTimeout(() => request.destroy(new Error('no connection')), CONNECT_TIMEOUT_MS);
      request.once('socket', (socket) => {
        if (!socket.connecting) clearTimeout(unconnected);
        socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(unconnected));
      });
      request.once('close', () => {
        clearTimeout(late);
        clearTimeout(unconnected);
      });
      request.once('error', fail);
      request.once('response', (response) => {
        clearTimeout(late);
        clearTimeout(unconnected);
        request.off('error', fail);
        request.on('error', () => undefined); // from here on, the body reports errors
        request.setTimeout(IDLE_TIMEOUT_MS, () => response.destroy(new Error('it stopped sending')));
        resolve(response);
      });
      request.end();
    });
  }
}

function unreachable(url: URL, error: Error): RegistryFailure {
  const code = 'code' in error ? String(error.code) : '';
  const reasons: Readonly<Record<string, string>> = {
    ENOTFOUND: 'its name is not known',
    EAI_AGAIN: 'its name could not be looked up',
    ECONNREFUSED: 'nothing listens there',
    ECONNRESET: 'it closed the connection',
  };
  return new RegistryFailure(`${url.host} cannot be reached: ${reasons[code] ?? error.message}`, {
    retryable: code !== 'ENOTFOUND' && code !== 'ECONNREFUSED',
    cause: error,
  });
}

function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization'));
}

function proxyFor(proxy: string) {
  return { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: 'localhost,127.0.0.1,::1' } };
}

/** Reads the whole body; throws if it exceeds the limit. */
export async function readBody(body: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) throw new RegistryFailure(`an answer is larger than ${limitBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof RegistryFailure) throw error;
    throw new RegistryFailure('the connection was lost', { retryable: true, cause: error });
  } finally {
    body.destroy();
  }
  return Buffer.concat(chunks);
}
