import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseByteRange } from '../../domain/byte-range.ts';
import type { ContentReader, ContentView } from '../../domain/content/content-headers.ts';
import { evaluateReadConditions, parseTags } from '../../domain/read-conditions.ts';
import type { StoreServices } from '../../domain/services.ts';
import { countTraffic } from '../../s3/count-traffic.ts';
import { storeErrors } from '../../errors.ts';
import type { FoundObject } from '../../domain/ports/objects.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { objectHeaders } from '../../s3/object-headers.ts';
import { ContentHead, sendContent, sendNotModified } from '../../s3/send-content.ts';

export interface SentObject {
  bucket: BucketRecord;
  found: FoundObject;
  /** Added to the object's own headers; these take precedence. */
  headers: OutgoingHttpHeaders;
  view: Pick<ContentView, 'reader' | 'disposition' | 'embedders'>;
}

/** Where to send the response. */
export interface ObjectExchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Headers of every response of this exchange. */
  headers: OutgoingHttpHeaders;
  /** Called once the request can no longer fail. */
  onStart: () => void;
}

/** Answers GET and HEAD for an object: conditions, one range, and the bytes as fast as the client reads them. */
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
    // A browser in the console gets a different response, which no cache may serve to others or vice versa.
    vary: 'cookie, sec-fetch-site',
  };
  // Objects under a customer key can only be read on the S3 plane, where the client sends that key.
  const key = await services.encryption.open(version.attributes.encryption, null);
  const result = evaluateReadConditions(parseReadConditions(request.headers), version);
  if (result === 'failed') throw storeErrors.PreconditionFailed();
  const count = (bytes: number): void => countTraffic(services.traffic, bucket, request, response, bytes);
  const decide = (): ContentHead => ContentHead.decide(headers, { ...view, key: version.key });
  if (result === 'not-modified') {
    count(0);
    sendNotModified(response, decide(), onStart);
    return;
  }
  const { sizeBytes } = version;
  const range = parseByteRange(chooseRange(request.headers, version.etag), sizeBytes);
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

/** The exchange of a route. The framework controls the response until the request can no longer fail. */
export function createExchange(request: FastifyRequest, reply: FastifyReply): ObjectExchange {
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(reply.getHeaders())) headers[name] = value;
  return { request: request.raw, response: reply.raw, headers, onStart: () => void reply.hijack() };
}

/** `console` if the request may be a page load, or part of a page, in the console's origin. */
export function detectReader({ headers }: Pick<IncomingMessage, 'headers'>): ContentReader {
  return headers.cookie !== undefined || headers['sec-fetch-site'] === 'same-origin' ? 'console' : 'browser';
}

function parseReadConditions(headers: IncomingHttpHeaders) {
  return {
    ifMatch: headers['if-match'],
    ifNoneMatch: headers['if-none-match'],
    ifModifiedSince: headers['if-modified-since'],
    ifUnmodifiedSince: headers['if-unmodified-since'],
  };
}

/** RFC 9110 section 13.1.5, for ETags: ignores the range if it refers to another version. */
function chooseRange(headers: IncomingHttpHeaders, etag: string): string | undefined {
  const ifRange = headers['if-range'];
  const applies = typeof ifRange !== 'string' || parseTags(ifRange).includes(etag);
  return applies ? headers.range : undefined;
}
