import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientOfRequest } from '@svc/http';
import { assertObjectKey } from '../domain/object-key.ts';
import { storeErrors } from '../errors.ts';
import { RequestQuery } from './query.ts';
import { RequestHeaders } from './request-headers.ts';

/** One request to the S3 plane, read but not judged. */
export interface S3Request {
  readonly method: string;
  /** As it was sent: signatures are made over exactly this. */
  readonly rawPath: string;
  readonly query: RequestQuery;
  readonly headers: RequestHeaders;
  readonly bucketName: string | null;
  readonly key: string | null;
  readonly requestId: string;
  /** It came to a website host or a custom domain: an origin in which the bucket is at home, and nothing else. */
  readonly isSite: boolean;
  readonly incoming: IncomingMessage;
  /** The client's, also behind trusted proxies. */
  readonly remoteAddress: string;
  /** Whether the client used TLS, also to a trusted proxy. */
  readonly isSecure: boolean;
  /** Sends `100 Continue` if the client waits for it; called when the body is wanted. */
  readonly wantBody: () => void;
}

export interface S3RequestOptions {
  requestId: string;
  /** Host names below which a bucket has one of its own. */
  domains: readonly string[];
  /** The bucket of a custom domain that the request names as its host. */
  siteBucket: string | null;
  /** The client sent `Expect: 100-continue` and nobody answered it yet. */
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

/** Bucket and key part at the first slash that was sent as one: `%2F` belongs to a name, and no name of ours has it. */
function splitPath(rawPath: string): { bucketName: string | null; key: string | null } {
  if (rawPath === '/') return { bucketName: null, key: null };
  const slash = rawPath.indexOf('/', 1);
  const bucketName = decode(slash === -1 ? rawPath.slice(1) : rawPath.slice(1, slash));
  return { bucketName, key: slash === -1 ? null : rawPath.slice(slash + 1) };
}

/** The bucket that a host below one of the domains names. */
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
