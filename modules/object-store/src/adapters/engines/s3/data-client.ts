import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createSigningCredential,
  EMPTY_SHA256,
  objectPath,
  signHeaders,
  UNSIGNED_PAYLOAD,
  uriEncode,
  type QueryParameter,
  type SigningCredential,
} from '@svc/s3-sign';
import { Pool, type Dispatcher } from 'undici';
import { EngineError } from './failures.ts';
import type { S3EngineOptions } from './options.ts';
import { ResponseBody } from './response-body.ts';

/** Delay before the first repetition, doubled for each further one; a random share of it is waited. */
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 20_000;
const MAX_ERROR_BYTES = 64 * 1024;
/** What an engine does with the checksum of a body: it is known after the first request that has one. */
type Checksums = 'unknown' | 'verified' | 'unsupported';

const CHECKSUM_HEADER = 'x-amz-checksum-crc64nvme';
const ERROR_CODE = /<Code>([A-Za-z0-9]{1,100})<\/Code>/;

/** A request that carries the bytes of a blob in one direction. */
export interface DataRequest {
  readonly method: 'GET' | 'PUT';
  readonly key: string;
  readonly parameters?: readonly QueryParameter[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
  /** CRC-64/NVME of the body. */
  readonly crc64nvme?: Buffer;
}

/** Its status is 2xx. */
export interface DataResponse {
  readonly headers: IncomingHttpHeaders;
  /** The caller reads it to its end, or destroys it. */
  readonly body: ResponseBody;
}

/**
 * Sends the requests that carry the bytes of blobs. It does only what these need, in a third of the processor time of
 * the SDK: signing, a timeout, repetitions. The engine refuses a damaged body: by its CRC-64/NVME if it confirms that
 * checksum, otherwise by the signed SHA-256, which takes both sides more time.
 */
export class DataClient {
  readonly #options: S3EngineOptions;
  /** Path of the endpoint, without a slash at the end. */
  readonly #base: string;
  readonly #host: string;
  readonly #credential: SigningCredential;
  readonly #pool: Pool;
  #checksums: Checksums = 'unknown';

  constructor(options: S3EngineOptions) {
    this.#options = options;
    const { endpoint = `https://s3.${options.region}.amazonaws.com`, bucket, pathStyle, maxConnections } = options;
    const url = new URL(endpoint);
    this.#base = url.pathname.replace(/\/$/, '');
    this.#host = pathStyle ? url.host : `${bucket}.${url.host}`;
    this.#credential = createSigningCredential(options, options.region);
    this.#pool = new Pool(`${url.protocol}//${this.#host}`, {
      connections: maxConnections,
      connect: { timeout: options.connectTimeoutMs },
      // Requests have limits of their own, which include the wait for a connection.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /**
   * Returns the response when its head has arrived; the caller reads or destroys it. Throws EngineError for any status
   * but 2xx, after repeating what may pass.
   */
  async send(request: DataRequest): Promise<DataResponse> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await this.#attempt(request);
        if (response !== null) return response;
      } catch (error) {
        if (attempt >= this.#options.maxAttempts || !mayPass(error)) throw error;
        const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
        await sleep(Math.floor((delayMs * this.#options.random(1).readUInt8()) / 255));
      }
    }
  }

  close(): void {
    void this.#pool.destroy();
  }

  /** Null if the body has to be sent again, with its SHA-256: the engine does not know the checksum after all. */
  async #attempt(request: DataRequest): Promise<DataResponse | null> {
    const { crc64nvme } = request;
    const checksums = crc64nvme === undefined ? 'unsupported' : this.#checksums;
    let response: DataResponse;
    try {
      response = await this.#sendOnce(request, checksums);
    } catch (error) {
      // Some engines refuse headers that they do not know.
      const isRefusal = error instanceof EngineError && (error.status === 400 || error.status === 501);
      if (checksums !== 'unknown' || !isRefusal) throw error;
      this.#checksums = 'unsupported';
      return null;
    }
    if (crc64nvme === undefined || checksums === 'unsupported') return response;
    const isConfirmed = response.headers[CHECKSUM_HEADER] === crc64nvme.toString('base64');
    this.#checksums = isConfirmed ? 'verified' : 'unsupported';
    if (isConfirmed || checksums === 'unknown') return response;
    response.body.destroy();
    return null;
  }

  #sendOnce(request: DataRequest, checksums: Checksums): Promise<DataResponse> {
    const { method, key, parameters = [], body = [], crc64nvme } = request;
    const { bucket, pathStyle, clock, requestTimeoutMs } = this.#options;
    const path = this.#base + (pathStyle ? objectPath(bucket, key) : objectPath(key));
    const headers: Record<string, string> = { host: this.#host, ...request.headers };
    if (crc64nvme !== undefined && checksums !== 'unsupported') headers[CHECKSUM_HEADER] = crc64nvme.toString('base64');
    const payloadHash = checksums === 'verified' ? UNSIGNED_PAYLOAD : hashOf(body);
    const signed = signHeaders({ method, path, parameters, headers, payloadHash }, this.#credential, clock.nowMs());
    const length = body.reduce((sum, chunk) => sum + chunk.length, 0);
    const query = parameters.map(({ name, value }) => `${uriEncode(name)}=${uriEncode(value)}`).join('&');
    return new Promise((resolve, reject) => {
      const exchange = new Exchange({ resolve, reject, timeoutMs: requestTimeoutMs });
      this.#pool.dispatch(
        {
          method,
          path: query === '' ? path : `${path}?${query}`,
          headers: method === 'PUT' ? { ...signed.headers, 'content-length': String(length) } : signed.headers,
          body: body.length > 1 ? Buffer.concat(body, length) : (body[0] ?? null),
        },
        exchange,
      );
    });
  }
}

interface ExchangeOptions {
  resolve: (response: DataResponse) => void;
  reject: (error: Error) => void;
  /** Until the head of the response, and for silence in its body. */
  timeoutMs: number;
}

/** One request and its response, as undici reports them. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #options: ExchangeOptions;
  readonly #answering: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #failure: Error | null = null;
  #body: ResponseBody | null = null;
  /** Of a response other than 2xx. */
  #refusal: { status: number; text: string } | null = null;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#answering = setTimeout(
      () => this.#fail(this.#refusalOr('the engine did not answer in time')),
      options.timeoutMs,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure !== null) controller.abort(this.#failure);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    if (status > 299) {
      this.#refusal = { status, text: '' }; // its body is part of the answer, so the timeout holds for it too
      return;
    }
    clearTimeout(this.#answering);
    const { 'content-length': length } = headers;
    const lengthBytes = length === undefined ? null : Number(length);
    this.#body = new ResponseBody(controller, { lengthBytes, silenceMs: this.#options.timeoutMs });
    this.#options.resolve({ headers, body: this.#body });
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#body !== null) {
      this.#body.push(piece);
      return;
    }
    if (this.#refusal === null) return;
    this.#refusal.text += piece.toString('latin1');
    if (this.#refusal.text.length > MAX_ERROR_BYTES) this.#fail(this.#refusalOr('the answer is too long'));
  }

  onResponseEnd(): void {
    if (this.#body === null) this.#fail(this.#refusalOr('the engine gave no answer'));
    else this.#body.end('ended');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#body === null) this.#fail(this.#refusalOr(error));
    else this.#body.end(error);
  }

  #fail(error: Error): void {
    if (this.#failure !== null) return;
    this.#failure = error;
    clearTimeout(this.#answering);
    this.#options.reject(error);
    this.#controller?.abort(error);
  }

  /** A status other than 2xx says enough, even if the rest of the answer never came. */
  #refusalOr(other: Error | string): Error {
    if (this.#refusal !== null) {
      return new EngineError(this.#refusal.status, ERROR_CODE.exec(this.#refusal.text)?.[1] ?? '');
    }
    return typeof other === 'string' ? new Error(other) : other;
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
