import { hash } from 'node:crypto';
import {
  canonicalQuery,
  createSigningCredential,
  EMPTY_SHA256,
  signHeaders,
  toQueryParameters,
  type AccessKey,
  type SigningCredential,
} from '@svc/s3-sign';

export interface Target extends Readonly<AccessKey> {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string;
  readonly region: string;
}

export interface UnsignedRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD';
  /** Already escaped, without the query. */
  readonly path: string;
  /** Not escaped. */
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body size in bytes; none if absent. */
  readonly bodyBytes?: number;
  /** SHA-256 of the body in hex, or `UNSIGNED-PAYLOAD`. */
  readonly payloadHash?: string;
}

/** Prepares request heads with Signature Version 4 as raw bytes, outside of the timed path. */
export class Signer {
  readonly #credential: SigningCredential;
  readonly #host: string;

  constructor(target: Target) {
    this.#credential = createSigningCredential(target, target.region);
    this.#host = new URL(target.endpoint).host;
  }

  head(request: UnsignedRequest, nowMs = Date.now()): Buffer {
    const { method, path, query = {}, bodyBytes, payloadHash = EMPTY_SHA256 } = request;
    const parameters = toQueryParameters(query);
    const { headers } = signHeaders(
      { method, path, parameters, headers: { host: this.#host, ...request.headers }, payloadHash },
      this.#credential,
      nowMs,
    );
    const search = canonicalQuery(parameters);
    const lines = [
      `${method} ${path}${search === '' ? '' : `?${search}`} HTTP/1.1`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...(bodyBytes === undefined ? [] : [`content-length: ${bodyBytes}`]),
    ];
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  }
}

export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content);
}
