import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { hash } from 'node:crypto';
import { createSigningCredential, signHeaders } from '@svc/s3-sign';
import { RequestQuery } from '../../src/s3/query.ts';
import type { TestKey } from './running-store.ts';

export interface RawRequest {
  method?: string;
  /** Path and query exactly as sent on the wire. */
  target: string;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array | string;
}

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** `<Code>` of an S3 error. */
  code: string | undefined;
}

export interface SigningOptions {
  key: TestKey;
  region?: string;
  nowMs?: number;
  /** Default: the SHA-256 of the body. */
  payloadHash?: string;
  /** Headers sent but left out of the signature. */
  unsigned?: readonly string[];
  host: string;
}

/** Sends one request unchanged, for requests no SDK would send. */
export function sendRaw(endpoint: string, raw: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(endpoint);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { hostname, port, method: raw.method ?? 'GET', path: raw.target, headers: { ...raw.headers }, agent: false },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const body = Buffer.concat(chunks);
          const code = /<Code>(\w+)<\/Code>/.exec(body.toString())?.[1];
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body, code });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(raw.body);
  });
}

/** Returns the request with Signature Version 4 headers. */
export function signed(raw: RawRequest, options: SigningOptions): RawRequest & { signature: string } {
  const { key, region = 'us-east-1', nowMs = Date.now(), host, unsigned = [] } = options;
  const [path = '', query = ''] = raw.target.split('?', 2);
  const signedHeaders = signHeaders(
    {
      method: raw.method ?? 'GET',
      path,
      parameters: new RequestQuery(query).parameters,
      headers: { host, ...raw.headers },
      unsignedHeaders: unsigned,
      payloadHash: options.payloadHash ?? hash('sha256', raw.body ?? ''),
    },
    createSigningCredential(key, region),
    nowMs,
  );
  return { ...raw, ...signedHeaders };
}
