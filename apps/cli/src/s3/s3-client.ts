import type { Agent as HttpAgent, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { failUnanswered } from '@svc/runtime';
import {
  canonicalQuery,
  createSigningCredential,
  objectPath,
  signHeaders,
  toQueryParameters,
  type AccessKey,
  type SigningCredential,
} from '@svc/s3-sign';
import type { AccessKeySource } from '../client/access-keys.ts';
import { S3Error, parseS3Error } from './s3-error.ts';

export interface RequestBody {
  sizeBytes: number;
  /** Called once per attempt. */
  open: () => Readable | Uint8Array;
}

export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  bucket: string;
  key?: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: RequestBody;
  signal: AbortSignal;
}

export interface S3Answer {
  headers: IncomingHttpHeaders;
  /** Read it to its end, or destroy it. */
  body: IncomingMessage;
}

/** The region of every platform. */
export const REGION = 'auto';
const TRIES = 6;
/** A connection without traffic for this long is dead. */
const IDLE_TIMEOUT_MS = 120_000;

/** An import would access all exports of the module and so load `fetch`: a tenth of a short command's time. */
const { Agent, request: httpRequest } = process.getBuiltinModule('node:http');

/** Sends signed requests over kept-alive connections; retries transient failures. */
export class S3Client {
  readonly #keys: AccessKeySource;
  #last: { secret: string; credential: SigningCredential } | null = null;
  readonly #agents: { http: HttpAgent; https: HttpsAgent };

  constructor(keys: AccessKeySource, connections: number) {
    this.#keys = keys;
    const options = { keepAlive: true, maxSockets: connections };
    this.#agents = { http: new Agent(options), https: new HttpsAgent(options) };
  }

  get keys(): AccessKeySource {
    return this.#keys;
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  /** Resolves with the head of a successful response; throws on anything else. */
  async send(request: S3Request): Promise<S3Answer> {
    let renewed = false;
    let relocated = false;
    for (let tried = 1; ; tried += 1) {
      try {
        return await this.#attempt(request);
      } catch (error) {
        request.signal.throwIfAborted();
        const unknownKey =
          error instanceof S3Error && (error.code === 'InvalidAccessKeyId' || error.code === 'ExpiredToken');
        if (unknownKey && !renewed && (await this.#keys.renew())) {
          renewed = true;
          continue;
        }
        if (!relocated && isUnanswered(error)) {
          relocated = true;
          if (await this.#keys.relocate().catch(() => false)) continue; // the original refusal says more
        }
        if (tried >= TRIES || !isPassing(error)) throw error;
        await delay(100 * 2 ** tried, undefined, { signal: request.signal });
      }
    }
  }

  /** Like `send`, for small document responses. */
  async sendForText(request: S3Request): Promise<{ headers: IncomingHttpHeaders; text: string }> {
    const { headers, body } = await this.send(request);
    return { headers, text: await text(body) };
  }

  async #attempt(request: S3Request): Promise<S3Answer> {
    request.signal.throwIfAborted();
    const access = await this.#keys.get();
    const endpoint = new URL(access.endpoint);
    const path = objectPath(request.bucket, request.key);
    const parameters = toQueryParameters(request.query ?? {});
    const length = request.body?.sizeBytes ?? (request.method === 'PUT' || request.method === 'POST' ? 0 : undefined);
    const given = { ...request.headers, host: endpoint.host };
    const signable = { method: request.method, path, parameters, headers: given };
    const headers = {
      ...signHeaders(signable, this.#credential(access), Date.now()).headers,
      ...(length === undefined ? {} : { 'content-length': String(length) }),
    };
    const rendered = canonicalQuery(parameters);
    const answer = await this.#exchange(endpoint, request, rendered === '' ? path : `${path}?${rendered}`, headers);
    const status = answer.statusCode ?? 0;
    if (status >= 200 && status < 300) return { headers: answer.headers, body: answer };
    const requestId = answer.headers['x-amz-request-id'];
    throw parseS3Error(status, typeof requestId === 'string' ? requestId : null, await text(answer));
  }

  /** Bodies are verified by their checksum header, not by the signature; so only the head is signed. */
  #credential(access: AccessKey): SigningCredential {
    const { accessKeyId, secretAccessKey: secret } = access;
    if (this.#last?.secret === secret && this.#last.credential.accessKeyId === accessKeyId)
      return this.#last.credential;
    const credential = createSigningCredential(access, REGION);
    this.#last = { secret, credential };
    return credential;
  }

  #exchange(
    endpoint: URL,
    request: S3Request,
    path: string,
    headers: Record<string, string>,
  ): Promise<IncomingMessage> {
    const secure = endpoint.protocol === 'https:';
    const options = {
      host: endpoint.hostname.replaceAll(/[[\]]/g, ''),
      port: endpoint.port === '' ? (secure ? 443 : 80) : Number(endpoint.port),
      method: request.method,
      path,
      headers,
      signal: request.signal,
    };
    return new Promise((resolve, reject) => {
      const outgoing = secure
        ? httpsRequest({ ...options, agent: this.#agents.https })
        : httpRequest({ ...options, agent: this.#agents.http });
      outgoing.setTimeout(IDLE_TIMEOUT_MS, () => outgoing.destroy(new Error('the connection stands still')));
      failUnanswered(outgoing);
      outgoing.once('response', resolve);
      outgoing.once('error', reject);
      const body = request.body?.open();
      if (body === undefined || body instanceof Uint8Array) outgoing.end(body);
      // A refusal may arrive before the body is sent; then it counts, not the broken pipe.
      else pipeline(body, outgoing).catch(reject);
    });
  }
}

/** Connection refused or unknown host. */
function isUnanswered(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNREFUSED' || error.code === 'ENOTFOUND');
}

function isPassing(error: unknown): boolean {
  if (error instanceof S3Error) return error.isPassing;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const passing = ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'UND_ERR_SOCKET'];
  return typeof code === 'string' && passing.includes(code);
}
