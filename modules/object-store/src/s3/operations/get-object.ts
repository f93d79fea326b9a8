import { defineOperation, type ObjectHandler } from '../operation.ts';
import { READ_OBJECT } from '../access/rules.ts';
import type { OutgoingHttpHeaders } from 'node:http';
import type { ContentReader } from '../../domain/content/content-headers.ts';
import { parseByteRange } from '../../domain/byte-range.ts';
import { evaluateReadConditions, parseTags } from '../../domain/read-conditions.ts';
import type { ContentKey } from '../../domain/encryption/content-key.ts';
import { storeErrors } from '../../errors.ts';
import type { ReadRange } from '../../domain/ports/blob-store.ts';
import type { FoundObject } from '../../domain/ports/objects.ts';
import { findObject } from '../access/find-object.ts';
import { assertNoEncryptionRequest, encryptionHeaders, readCustomerKey } from '../encryption-headers.ts';
import { expirationHeaders, matchable } from '../expiration-header.ts';
import { checksumHeaders, objectHeaders } from '../object-headers.ts';
import { parseReadConditions } from '../request-conditions.ts';
import type { ObjectContext } from '../s3-context.ts';
import { ContentHead, sendContent, sendNotModified } from '../send-content.ts';

const RESPONSE_OVERRIDES: Readonly<Record<string, string>> = {
  'response-cache-control': 'cache-control',
  'response-content-disposition': 'content-disposition',
  'response-content-encoding': 'content-encoding',
  'response-content-language': 'content-language',
  'response-content-type': 'content-type',
  'response-expires': 'expires',
};

interface Selection {
  range: ReadRange;
  status: 200 | 206;
  headers: OutgoingHttpHeaders;
}

const getObject: ObjectHandler = (context) => answerObject(context);

const headObject: ObjectHandler = (context) => answerObject(context);

/** Overrides for an object served in place of another, such as an error page. */
export interface AnswerAs {
  status?: number;
  headers?: OutgoingHttpHeaders;
}

/** Answers GET and HEAD of the object that the request names. */
export async function answerObject(context: ObjectContext, as: AnswerAs = {}): Promise<void> {
  const { request, response, services } = context;
  const prepared = await prepare(context);
  if (prepared === null) return;
  const { found, selection, key } = prepared;
  await sendContent(services.deps, response, {
    workspaceUuid: context.bucket.workspaceUuid,
    found,
    key,
    range: selection.range,
    status: as.status ?? selection.status,
    head: decideHead(context, { ...prepared.headers, ...as.headers }),
    isHead: request.method === 'HEAD',
  });
}

function decideHead(context: ObjectContext, headers: OutgoingHttpHeaders): ContentHead {
  const key = context.key;
  const reader = detectReader(context);
  return ContentHead.decide(headers, { reader, key, disposition: 'inline', embedders: 'cross-origin' });
}

/** A page load cannot send an `Authorization` header; a presigned or unsigned request may be one. */
function detectReader({ request, caller }: ObjectContext): ContentReader {
  if (request.isSite) return 'site';
  return request.headers.has('authorization') && caller.accessKeyId !== null ? 'client' : 'browser';
}

interface Prepared {
  found: FoundObject;
  selection: Selection;
  headers: OutgoingHttpHeaders;
  key: ContentKey | null;
}

/** Null if the response has been sent already: the client has this version. */
async function prepare(context: ObjectContext): Promise<Prepared | null> {
  const { request, response, services } = context;
  const { bucket } = context;
  const partNumber = readPartNumber(request.query.get('partNumber'));
  const found = await findObject(context);
  assertNoEncryptionRequest(request.headers);
  const customerKey = readCustomerKey(context);
  // Reject a missing part before asking for the key.
  const part = partNumber === null ? null : await select(context, found, partNumber);
  const { encryption } = found.version.attributes;
  const key = await services.encryption.open(encryption, customerKey);
  const headers = {
    ...objectHeaders(found.version, bucket),
    ...encryptionHeaders(encryption, customerKey),
    ...(found.version.isLatest ? await expirationHeaders(services, bucket, matchable(found.version)) : {}),
  };
  const result = evaluateReadConditions(parseReadConditions(request.headers), found.version);
  if (result === 'failed') throw storeErrors.PreconditionFailed();
  if (result === 'not-modified') {
    sendNotModified(response, decideHead(context, headers));
    return null;
  }
  for (const [parameter, header] of Object.entries(RESPONSE_OVERRIDES)) {
    const value = request.query.get(parameter);
    if (value === undefined) continue;
    if (context.caller.accessKeyId === null) {
      const reason = 'Request specific response headers cannot be used for anonymous GET requests.';
      throw storeErrors.InvalidRequest({ details: { reason } });
    }
    headers[header] = headerText(value);
  }
  const selection = part ?? (await select(context, found, null));
  const withChecksum = request.headers.get('x-amz-checksum-mode')?.toUpperCase() === 'ENABLED';
  if (withChecksum && selection.status === 200) Object.assign(headers, checksumHeaders(found.version.checksum));
  return { found, selection, headers: { ...headers, ...selection.headers }, key };
}

async function select(context: ObjectContext, found: FoundObject, partNumber: number | null): Promise<Selection> {
  const { headers } = context.request;
  const { sizeBytes } = found.version;
  const rangeHeader = rangeApplies(headers.get('if-range'), found.version.etag) ? headers.get('range') : undefined;
  if (partNumber !== null) {
    if (rangeHeader !== undefined) {
      throw storeErrors.InvalidRequest({
        details: { reason: 'Cannot specify both Range header and partNumber query parameter' },
      });
    }
    return await selectPart(context, found, partNumber);
  }
  const range = parseByteRange(rangeHeader, sizeBytes);
  if (range === null) return { range: { start: 0, endExclusive: sizeBytes }, status: 200, headers: {} };
  return { range, status: 206, headers: { 'content-range': contentRange(range, sizeBytes) } };
}

/** Null for the whole object. */
function readPartNumber(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1) return Number(text);
  const reason = 'Part number must be an integer between 1 and 10000, inclusive.';
  const details = { reason, argumentName: 'partNumber', argumentValue: text.slice(0, 100) };
  throw storeErrors.InvalidArgument({ details });
}

async function selectPart({ services }: ObjectContext, found: FoundObject, partNumber: number): Promise<Selection> {
  const { version } = found;
  if (version.location.kind !== 'manifest') {
    if (partNumber !== 1) throw storeErrors.InvalidPart({ details: { partNumber } });
    const range = { start: 0, endExclusive: version.sizeBytes };
    if (version.sizeBytes === 0) return { range, status: 200, headers: {} };
    return { range, status: 206, headers: { 'content-range': contentRange(range, version.sizeBytes) } };
  }
  const { manifestId } = version.location;
  const part = await services.deps.metadata.findManifestPart({ manifestId, partNumber });
  if (part === null) throw storeErrors.InvalidPart({ details: { partNumber } });
  const range = { start: part.startOffset, endExclusive: part.startOffset + part.sizeBytes };
  const headers = {
    'content-range': contentRange(range, version.sizeBytes),
    'x-amz-mp-parts-count': version.partCount ?? 1,
    // The value is the part's; the type is that of the whole object.
    ...checksumHeaders(
      part.checksum === null ? null : { ...part.checksum, type: version.checksum?.type ?? part.checksum.type },
    ),
  };
  return { range, status: 206, headers };
}

/** RFC 9110 section 13.1.5, for ETags: a range applies to the named version only. */
function rangeApplies(ifRange: string | undefined, etag: string): boolean {
  return ifRange === undefined || parseTags(ifRange).includes(etag);
}

function contentRange(range: ReadRange, sizeBytes: number): string {
  return `bytes ${range.start}-${range.endExclusive - 1}/${sizeBytes}`;
}

/**
 * Encodes query text as header bytes. Node.js sends no control characters except tab: a line break would start another
 * header.
 */
function headerText(value: string): string {
  if (/[^\t\P{Cc}\u0080-\u009F]/u.test(value)) {
    throw storeErrors.InvalidArgument({ details: { reason: 'A response header contains a control character' } });
  }
  return Buffer.from(value).toString('latin1');
}

export const getObjectOperations = [
  defineOperation({
    name: 'GetObject',
    on: 'object',
    method: 'GET',
    ...READ_OBJECT,
    handle: getObject,
  }),
  defineOperation({
    name: 'HeadObject',
    on: 'object',
    method: 'HEAD',
    ...READ_OBJECT,
    handle: headObject,
  }),
];
