import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { createHash } from 'node:crypto';
import { deriveSigningKey } from '../../src/domain/credential-cache.ts';
import { canonicalRequest, stringToSign } from '../../src/s3/auth/canonical-request.ts';
import { RequestQuery } from '../../src/s3/query.ts';
import { RequestHeaders } from '../../src/s3/request-headers.ts';
import type { TestKey } from './running-store.ts';

export interface RawRequest {
  method?: string;
  /** Path and query exactly as they go onto the wire. */
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
  /** Headers that are sent but left out of the signature. */
  unsigned?: readonly string[];
  host: string;
}

/** One request as it is, for what no SDK would send. */
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

export function toAmzDate(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(/[-:]|\.\d{3}/g, '');
}

/** The request with the headers of Signature Version 4. */
export function signed(raw: RawRequest, options: SigningOptions): RawRequest & { signature: string } {
  const { key, region = 'us-east-1', nowMs = Date.now(), host } = options;
  const amzDate = toAmzDate(nowMs);
  const payloadHash =
    options.payloadHash ??
    createHash('sha256')
      .update(raw.body ?? '')
      .digest('hex');
  const headers: Record<string, string> = {
    host,
    'x-amz-date': amzDate,
    'x-amz-content-sha256': payloadHash,
    ...lowerNames(raw.headers ?? {}),
  };
  const names = Object.keys(headers)
    .filter((name) => !(options.unsigned ?? []).includes(name))
    .toSorted();
  const [path = '', query = ''] = raw.target.split('?', 2);
  const canonical = canonicalRequest({
    method: raw.method ?? 'GET',
    path,
    parameters: new RequestQuery(query).parameters,
    headers: new RequestHeaders(Object.entries(headers).flat()),
    signedHeaders: names,
    payloadHash,
  });
  const scope = `${amzDate.slice(0, 8)}/${region}/s3/aws4_request`;
  const signingKey = deriveSigningKey(key.secretAccessKey, amzDate.slice(0, 8), region);
  const signature = signingKey.sign(stringToSign(amzDate, scope, canonical));
  const authorization = `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { ...raw, headers: { ...headers, authorization }, signature };
}

function lowerNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
