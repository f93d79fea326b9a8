import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseByteRange } from '../../domain/byte-range.ts';
import { evaluateReadConditions, parseTags } from '../../domain/read-conditions.ts';
import { readContent } from '../../domain/read-content.ts';
import type { StoreServices } from '../../domain/services.ts';
import { countTraffic } from '../../domain/usage/count-traffic.ts';
import { storeErrors } from '../../errors.ts';
import type { FoundObject } from '../../ports/metadata-store.ts';
import type { BucketRecord } from '../../ports/records.ts';
import { objectHeaders } from '../../s3/object-headers.ts';
import { respondEmpty, respondStream } from '../../s3/respond.ts';

export interface SentObject {
  bucket: BucketRecord;
  found: FoundObject;
  /** Instead of, or beside, what the object says of itself. */
  headers: OutgoingHttpHeaders;
}

/** Answers GET and HEAD for an object: conditions, one range, and the bytes as fast as the reader takes them. */
export async function sendObject(
  services: StoreServices,
  request: FastifyRequest,
  reply: FastifyReply,
  { bucket, found, headers: more }: SentObject,
): Promise<void> {
  const { version } = found;
  const headers: OutgoingHttpHeaders = Object.assign(
    { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
    reply.getHeaders(),
    objectHeaders(version, bucket),
    more,
  );
  // One that only its customer's key opens is read on the S3 plane, where that key can be given.
  const key = services.encryption.open(version.attributes.encryption, null);
  const result = evaluateReadConditions(readConditionsOf(request.headers), version);
  if (result === 'failed') throw storeErrors.PreconditionFailed();
  const count = (bytes: number): void => countTraffic(services.traffic, bucket, request.raw, reply.raw, bytes);
  if (result === 'not-modified') {
    count(0);
    delete headers['content-type'];
    reply.hijack();
    respondEmpty(reply.raw, 304, headers);
    return;
  }
  const { sizeBytes } = version;
  const range = parseByteRange(rangeOf(request.headers, version.etag), sizeBytes);
  const { start, endExclusive } = range ?? { start: 0, endExclusive: sizeBytes };
  const status = range === null ? 200 : 206;
  if (range !== null) headers['content-range'] = `bytes ${start}-${endExclusive - 1}/${sizeBytes}`;
  headers['content-length'] = endExclusive - start;
  if (request.method === 'HEAD' || endExclusive === start) {
    count(0);
    reply.hijack();
    respondEmpty(reply.raw, status, headers);
    return;
  }
  const content = readContent(services.parts, found, { start, endExclusive }, key);
  // The first chunk before the head: bytes that cannot be read are an error, not a cut connection.
  const first = await content.next();
  count(endExclusive - start);
  reply.hijack();
  reply.raw.writeHead(status, headers);
  await respondStream(reply.raw, startingWith(first, content));
}

function readConditionsOf(headers: IncomingHttpHeaders) {
  return {
    ifMatch: headers['if-match'],
    ifNoneMatch: headers['if-none-match'],
    ifModifiedSince: headers['if-modified-since'],
    ifUnmodifiedSince: headers['if-unmodified-since'],
  };
}

/** RFC 9110 section 13.1.5, for tags: a range of another version is not wanted. */
function rangeOf(headers: IncomingHttpHeaders, etag: string): string | undefined {
  const ifRange = headers['if-range'];
  const applies = typeof ifRange !== 'string' || parseTags(ifRange).includes(etag);
  return applies ? headers.range : undefined;
}

async function* startingWith(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    if (!first.done) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

/** Types that run scripts or load others' content when a browser shows them. */
const ACTIVE_TYPES = /^(text\/html|application\/xhtml\+xml|image\/svg\+xml|(text|application)\/([a-z.+-]*\+)?xml)\b/i;

/**
 * On the platform's own origin a page of a user could act as whoever looks at it. So downloads are saved, not shown,
 * unless the caller says otherwise; and what is shown gets an origin of its own, in which nothing of ours is reachable.
 */
export function shownSafely(
  contentType: string,
  key: string,
  disposition: 'inline' | 'attachment',
): OutgoingHttpHeaders {
  const name = key.split('/').findLast((segment) => segment !== '') ?? 'download';
  const ascii = name.replace(/[^ -~]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return {
    // RFC 6266: the plain name for old clients, the encoded one for the rest.
    'content-disposition': `${disposition}; filename="${ascii}"; filename*=UTF-8''${encoded}`,
    ...(disposition === 'inline' && ACTIVE_TYPES.test(contentType) ? { 'content-security-policy': 'sandbox' } : {}),
  };
}
