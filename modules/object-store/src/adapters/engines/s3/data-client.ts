import { createHash } from 'node:crypto';
import { Agent as HttpAgent, request as sendPlain, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as sendEncrypted } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { failUnanswered } from '@svc/runtime';
import {
  createSigningCredential,
  EMPTY_SHA256,
  objectPath,
  signHeaders,
  uriEncode,
  type QueryParameter,
  type SigningCredential,
} from '@svc/s3-sign';
import { EngineError } from './failures.ts';
import type { S3EngineOptions } from './options.ts';

/** Delay before the first repetition, doubled for each further one; a random share of it is waited. */
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 20_000;
const MAX_ERROR_BYTES = 64 * 1024;
const ERROR_CODE = /<Code>([A-Za-z0-9]{1,100})<\/Code>/;

/** A request that carries the bytes of a blob in one direction. */
export interface DataRequest {
  readonly method: 'GET' | 'PUT';
  readonly key: string;
  readonly parameters?: readonly QueryParameter[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
}

/**
 * Sends the requests that carry the bytes of blobs. It does only what these need, in about half the processor time of
 * the SDK: signing, a timeout, repetitions. The body's hash is signed, so that an engine refuses a damaged one.
 */
export class DataClient {
  readonly #options: S3EngineOptions;
  readonly #endpoint: URL;
  readonly #host: string;
  readonly #credential: SigningCredential;
  readonly #agent: HttpAgent;
  readonly #send: typeof sendPlain;

  constructor(options: S3EngineOptions) {
    this.#options = options;
    const { endpoint = `https://s3.${options.region}.amazonaws.com`, bucket, pathStyle, maxConnections } = options;
    this.#endpoint = new URL(endpoint);
    this.#host = pathStyle ? this.#endpoint.host : `${bucket}.${this.#endpoint.host}`;
    this.#credential = createSigningCredential(options, options.region);
    const isEncrypted = this.#endpoint.protocol === 'https:';
    this.#agent = new (isEncrypted ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets: maxConnections });
    this.#send = isEncrypted ? sendEncrypted : sendPlain;
  }

  /**
   * Returns the response when its head has arrived; the caller reads or destroys it. Throws EngineError for any status
   * but 2xx, after repeating what may pass.
   */
  async send(request: DataRequest): Promise<IncomingMessage> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#sendOnce(request);
      } catch (error) {
        if (attempt >= this.#options.maxAttempts || !mayPass(error)) throw error;
        const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
        await sleep(Math.floor((delayMs * this.#options.random(1).readUInt8()) / 255));
      }
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #sendOnce(request: DataRequest): Promise<IncomingMessage> {
    const response = await this.#exchange(request);
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode <= 299) return response;
    throw new EngineError(statusCode, await this.#readCode(response));
  }

  #exchange({ method, key, parameters = [], headers = {}, body = [] }: DataRequest): Promise<IncomingMessage> {
    const { bucket, pathStyle, clock, requestTimeoutMs } = this.#options;
    const base = this.#endpoint.pathname.replace(/\/$/, '');
    const path = base + (pathStyle ? objectPath(bucket, key) : objectPath(key));
    const signed = signHeaders(
      { method, path, parameters, headers: { host: this.#host, ...headers }, payloadHash: hashOf(body) },
      this.#credential,
      clock.nowMs(),
    );
    const length = body.reduce((sum, chunk) => sum + chunk.length, 0);
    const query = parameters.map(({ name, value }) => `${uriEncode(name)}=${uriEncode(value)}`).join('&');
    const options: RequestOptions = {
      protocol: this.#endpoint.protocol,
      hostname: pathStyle ? this.#endpoint.hostname : `${bucket}.${this.#endpoint.hostname}`,
      port: this.#endpoint.port,
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers: method === 'PUT' ? { ...signed.headers, 'content-length': String(length) } : signed.headers,
      agent: this.#agent,
    };
    return new Promise((resolve, reject) => {
      const outgoing = this.#send(options);
      failUnanswered(outgoing);
      const fail = (reason: string) => () => outgoing.destroy(new Error(reason));
      const answering = setTimeout(fail('the engine did not answer in time'), requestTimeoutMs);
      outgoing.once('error', reject).once('close', () => clearTimeout(answering));
      outgoing.once('socket', (socket) => {
        if (!socket.connecting) return;
        const connecting = setTimeout(fail('no connection to the engine in time'), this.#options.connectTimeoutMs);
        socket.once('connect', () => clearTimeout(connecting)).once('close', () => clearTimeout(connecting));
      });
      outgoing.once('response', (response) => {
        clearTimeout(answering);
        resolve(response);
      });
      outgoing.cork();
      for (const chunk of body) outgoing.write(chunk);
      outgoing.end();
    });
  }

  /** The code in the body of an error; empty if there is none. */
  async #readCode(response: IncomingMessage): Promise<string> {
    const silent = setTimeout(() => response.destroy(), this.#options.requestTimeoutMs);
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_ERROR_BYTES) response.destroy();
    });
    try {
      return ERROR_CODE.exec(await text(response))?.[1] ?? '';
    } catch {
      return ''; // the status says enough
    } finally {
      clearTimeout(silent);
    }
  }
}

function hashOf(body: readonly Uint8Array[]): string {
  if (body.length === 0) return EMPTY_SHA256;
  const hash = createHash('sha256');
  for (const chunk of body) hash.update(chunk);
  return hash.digest('hex');
}

/** A request that found no answer, a busy engine, or one with a fault. */
function mayPass(error: unknown): boolean {
  return !(error instanceof EngineError) || error.status >= 500 || error.status === 429;
}
