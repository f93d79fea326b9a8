import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseByteRange } from '../../domain/byte-range.ts';
import type { ContentReader, ContentView } from '../../domain/content/content-headers.ts';
import { evaluateReadConditions, parseTags } from '../../domain/read-conditions.ts';
import type { StoreServices } from '../../domain/services.ts';
import { countTraffic } from '../../domain/usage/count-traffic.ts';
import { storeErrors } from '../../errors.ts';
import type { FoundObject } from '../../domain/ports/metadata-store.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { objectHeaders } from '../../s3/object-headers.ts';
import { ContentHead, sendContent, sendNotModified } from '../../s3/send-content.ts';

export interface SentObject {
  bucket: BucketRecord;
  found: FoundObject;
  /** Instead of, or beside, what the object says of itself. */
  headers: OutgoingHttpHeaders;
  view: Pick<ContentView, 'reader' | 'disposition' | 'embedders'>;
}

/** Where the answer goes. */
export interface ObjectExchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Of every answer here. */
  headers: OutgoingHttpHeaders;
  /** Called when nothing can be refused any more. */
  onStart: () => void;
}

/** Answers GET and HEAD for an object: conditions, one range, and the bytes as fast as the reader takes them. */
export async function sendObject(
  services: StoreServices,
  { request, response, headers: ours, onStart }: ObjectExchange,
  { bucket, found, headers: more, view }: SentObject,
): Promise<void> {
  const { version } = found;
  const headers: OutgoingHttpHeaders = {
    'referrer-policy': 'no-referrer',
    ...ours,
    ...objectHeaders(version, bucket),
    ...more,
    // What a browser of the console gets differs from what all others get; no cache may mix them up.
    vary: 'cookie, sec-fetch-site',
  };
  // One that only its customer's key opens is read on the S3 plane, where that key can be given.
  const key = await services.encryption.open(version.attributes.encryption, null);
  const result = evaluateReadConditions(readConditionsOf(request.headers), version);
  if (result === 'failed') throw storeErrors.PreconditionFailed();
  const count = (bytes: number): void => countTraffic(services.traffic, bucket, request, response, bytes);
  const decide = (): ContentHead => ContentHead.decide(headers, { ...view, key: version.key });
  if (result === 'not-modified') {
    count(0);
    sendNotModified(response, decide(), onStart);
    return;
  }
  const { sizeBytes } = version;
  const range = parseByteRange(rangeOf(request.headers, version.etag), sizeBytes);
  const { start, endExclusive } = range ?? { start: 0, endExclusive: sizeBytes };
  if (range !== null) headers['content-range'] = `bytes ${start}-${endExclusive - 1}/${sizeBytes}`;
  const isHead = request.method === 'HEAD';
  await sendContent(services.deps, response, {
    workspaceUuid: bucket.workspaceUuid,
    found,
    key,
    range: { start, endExclusive },
    status: range === null ? 200 : 206,
    head: decide(),
    isHead,
    onStart: () => {
      count(isHead ? 0 : endExclusive - start);
      onStart();
    },
  });
}

/** The exchange of a route, which stays the framework's until there is nothing to refuse any more. */
export function exchangeOf(request: FastifyRequest, reply: FastifyReply): ObjectExchange {
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(reply.getHeaders())) headers[name] = value;
  return { request: request.raw, response: reply.raw, headers, onStart: () => void reply.hijack() };
}

/** Whether the request may be a page load, or part of a page, in the console's own origin. */
export function readerOf({ headers }: Pick<IncomingMessage, 'headers'>): ContentReader {
  return headers.cookie !== undefined || headers['sec-fetch-site'] === 'same-origin' ? 'console' : 'browser';
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
