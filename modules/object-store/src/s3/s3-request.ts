import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientOfRequest } from '@svc/http';
import { assertObjectKey } from '../domain/object-key.ts';
import { storeErrors } from '../errors.ts';
import { RequestQuery } from './query.ts';
import { RequestHeaders } from './request-headers.ts';

/** A parsed request to the S3 plane. Not authenticated yet. */
export interface S3Request {
  readonly method: string;
  /** As sent: signatures cover exactly these bytes. */
  readonly rawPath: string;
  readonly query: RequestQuery;
  readonly headers: RequestHeaders;
  readonly bucketName: string | null;
  readonly key: string | null;
  readonly requestId: string;
  /** Sent to a website host or a custom domain, an origin that serves only this bucket. */
  readonly isSite: boolean;
  readonly incoming: IncomingMessage;
  /** The client's address, also behind trusted proxies. */
  readonly remoteAddress: string;
  /** Whether the client used TLS, also behind trusted proxies. */
  readonly isSecure: boolean;
  /** Sends `100 Continue` if the client expects it. Call when the body is wanted. */
  readonly wantBody: () => void;
}

export interface S3RequestOptions {
  requestId: string;
  /** Domains whose subdomains name buckets. */
  domains: readonly string[];
  /** Bucket of the custom domain in the request's host. */
  siteBucket: string | null;
  /** The client sent `Expect: 100-continue` and still waits for it. */
  expectsContinue: boolean;
  clientOf: ClientOfRequest;
}

export function readS3Request(
  incoming: IncomingMessage,
  response: ServerResponse,
  options: S3RequestOptions,
): S3Request {
  const url = incoming.url ?? '/';
  const mark = url.indexOf('?');
  const rawPath = mark === -1 ? url : url.slice(0, mark);
  if (!rawPath.startsWith('/')) throw storeErrors.InvalidURI();
  const headers = new RequestHeaders(incoming.rawHeaders);
  const hostBucket = options.siteBucket ?? bucketOfHost(headers.get('host') ?? '', options.domains);
  const { bucketName, key } =
    hostBucket === null ? splitPath(rawPath) : { bucketName: hostBucket, key: rawPath.slice(1) };
  let waiting = options.expectsContinue;
  return {
    method: incoming.method ?? 'GET',
    rawPath,
    query: new RequestQuery(mark === -1 ? '' : url.slice(mark + 1)),
    headers,
    bucketName,
    key: key === null || key === '' ? null : decodeKey(key),
    requestId: options.requestId,
    isSite: options.siteBucket !== null,
    incoming,
    ...options.clientOf(incoming),
    wantBody: () => {
      if (waiting) response.writeContinue();
      waiting = false;
    },
  };
}

/**
 * Splits bucket and key at the first literal slash. `%2F` would be part of a bucket name, and no bucket name contains
 * it.
 */
function splitPath(rawPath: string): { bucketName: string | null; key: string | null } {
  if (rawPath === '/') return { bucketName: null, key: null };
  const slash = rawPath.indexOf('/', 1);
  const bucketName = decode(slash === -1 ? rawPath.slice(1) : rawPath.slice(1, slash));
  return { bucketName, key: slash === -1 ? null : rawPath.slice(slash + 1) };
}

/** The bucket that a host names below one of the domains. */
export function bucketOfHost(host: string, domains: readonly string[]): string | null {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  const domain = domains.find((candidate) => name.endsWith(`.${candidate}`));
  return domain === undefined ? null : name.slice(0, -domain.length - 1);
}

function decodeKey(raw: string): string {
  const key = decode(raw);
  assertObjectKey(key);
  return key;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw storeErrors.InvalidURI();
  }
}
