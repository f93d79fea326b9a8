import { createHash, createHmac } from 'node:crypto';

export interface Target {
  /** `http://127.0.0.1:PORT` */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface UnsignedRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD';
  /** Already escaped, without the query. */
  readonly path: string;
  /** Name and value, both already escaped, sorted by name. */
  readonly query?: readonly (readonly [string, string])[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Body size in bytes; none if absent. */
  readonly bodyBytes?: number;
  /** SHA-256 of the body in hex, or `UNSIGNED-PAYLOAD`. */
  readonly payloadHash?: string;
}

const EMPTY_HASH = sha256('');

/** Prepares request heads with Signature Version 4 as raw bytes, outside of the timed path. */
export class Signer {
  readonly #target: Target;
  readonly #host: string;
  #day = '';
  #key: Buffer = Buffer.alloc(0);

  constructor(target: Target) {
    this.#target = target;
    this.#host = new URL(target.endpoint).host;
  }

  head(request: UnsignedRequest, now = new Date()): Buffer {
    const { method, path, query = [], bodyBytes, payloadHash = EMPTY_HASH } = request;
    const { accessKeyId, region } = this.#target;
    const date = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
    const day = date.slice(0, 8);
    const headers: Record<string, string> = {
      host: this.#host,
      'x-amz-content-sha256': payloadHash,
      'x-amz-date': date,
      ...request.headers,
    };
    const names = Object.keys(headers).toSorted();
    const canonicalHeaders = names.map((name) => `${name}:${headers[name]}\n`).join('');
    const search = query.map(([name, value]) => `${name}=${value}`).join('&');
    const canonical = [method, path, search, canonicalHeaders, names.join(';'), payloadHash].join('\n');
    const scope = `${day}/${region}/s3/aws4_request`;
    const stringToSign = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha256(canonical)}`;
    const signature = createHmac('sha256', this.#signingKey(day)).update(stringToSign).digest('hex');
    const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
    const lines = [
      `${method} ${path}${search === '' ? '' : `?${search}`} HTTP/1.1`,
      ...names.map((name) => `${name}: ${headers[name]}`),
      `authorization: ${authorization}`,
      ...(bodyBytes === undefined ? [] : [`content-length: ${bodyBytes}`]),
    ];
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  }

  #signingKey(day: string): Buffer {
    if (day !== this.#day) {
      const step = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
      const { region, secretAccessKey } = this.#target;
      this.#key = step(step(step(step(`AWS4${secretAccessKey}`, day), region), 's3'), 'aws4_request');
      this.#day = day;
    }
    return this.#key;
  }
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
