import { defineOperation, type BucketHandler } from '../operation.ts';
import type { ObjectPage } from '../../domain/ports/objects.ts';
import type { ObjectSummary } from '../../domain/ports/records.ts';
import { fromToken, readEncoding, readLimit, toIsoDate, toToken } from '../page-parameters.ts';
import { ownerElement } from '../owner-element.ts';
import { respondXml } from '../respond.ts';
import type { BucketContext, S3Context } from '../s3-context.ts';
import type { XmlNode } from '../xml-writer.ts';

// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const NOT_IN_XML = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/;

const listObjectsV2: BucketHandler = async (context) => {
  const { query } = context.request;
  const encode = readEncoding(query);
  const token = query.get('continuation-token');
  const startAfter = query.get('start-after') ?? '';
  const maxKeys = readMaxKeys(context);
  // An empty token counts as none, and is echoed unchanged.
  const after = token === undefined || token === '' ? startAfter : fromToken(token);
  const page = await readPage(context, after, maxKeys);
  const owner = query.get('fetch-owner') === 'true' ? renderOwner(context) : {};
  respondXml(context.response, 'ListBucketResult', {
    ...listingHead(context, maxKeys),
    ...(token === undefined ? {} : { ContinuationToken: token }),
    ...(query.has('start-after') ? { StartAfter: encode(startAfter) } : {}),
    KeyCount: page.objects.length + page.commonPrefixes.length,
    IsTruncated: page.truncated,
    ...(page.next === null ? {} : { NextContinuationToken: toToken(page.next) }),
    ...listingBody(page, encode, owner),
  });
};

const listObjects: BucketHandler = async (context) => {
  const { query } = context.request;
  const encode = readEncoding(query);
  const marker = query.get('marker') ?? '';
  const maxKeys = readMaxKeys(context);
  const page = await readPage(context, marker, maxKeys);
  // Without a delimiter the next marker is the last key of the page, which clients know already (API reference,
  // ListObjects).
  const next = page.next !== null && (query.get('delimiter') ?? '') !== '' ? { NextMarker: encode(page.next) } : {};
  respondXml(context.response, 'ListBucketResult', {
    ...listingHead(context, maxKeys),
    ...plainPrefix(query.get('prefix') ?? ''),
    Marker: encode(marker),
    IsTruncated: page.truncated,
    ...next,
    ...listingBody(page, encode, renderOwner(context)),
  });
};

function readMaxKeys({ request, services }: S3Context): number {
  return readLimit(request.query, 'max-keys', services.deps.config.limits.list_keys);
}

async function readPage(context: BucketContext, after: string, limit: number): Promise<ObjectPage> {
  if (limit === 0) return { objects: [], commonPrefixes: [], truncated: false, next: null };
  const { query } = context.request;
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
  return await context.services.objects.list(context.bucket, { prefix, delimiter, after, limit });
}

function listingHead(context: BucketContext, maxKeys: number): XmlNode {
  const { query } = context.request;
  const encode = readEncoding(query);
  const delimiter = query.get('delimiter');
  return {
    Name: context.bucket.name,
    Prefix: encode(query.get('prefix') ?? ''),
    ...(delimiter === undefined || delimiter === '' ? {} : { Delimiter: encode(delimiter) }),
    MaxKeys: maxKeys,
    ...(query.has('encoding-type') ? { EncodingType: 'url' } : {}),
  };
}

/** ListObjects never encodes its prefix, and clients do not decode it, but XML cannot represent all of Unicode. */
function plainPrefix(prefix: string): XmlNode {
  return NOT_IN_XML.test(prefix) ? {} : { Prefix: prefix };
}

function listingBody(page: ObjectPage, encode: (key: string) => string, owner: XmlNode): XmlNode {
  return {
    Contents: page.objects.map((object) => ({ ...toContents(object, encode), ...owner })),
    CommonPrefixes: page.commonPrefixes.map((prefix) => ({ Prefix: encode(prefix) })),
  };
}

function toContents(object: ObjectSummary, encode: (key: string) => string): XmlNode {
  const { checksum } = object;
  return {
    Key: encode(object.key),
    LastModified: toIsoDate(object.modifiedAtMs),
    ETag: `"${object.etag}"`,
    ...(checksum === null ? {} : { ChecksumAlgorithm: checksum.algorithm, ChecksumType: checksum.type }),
    Size: object.sizeBytes,
    StorageClass: 'STANDARD',
  };
}

/** Everything in a bucket belongs to its workspace. */
export function renderOwner(context: BucketContext): XmlNode {
  return { Owner: ownerElement(context.bucket.workspaceUuid) };
}

export const listingsOperations = [
  defineOperation({
    name: 'ListObjects',
    on: 'bucket',
    method: 'GET',
    action: 's3:ListBucket',
    acl: { on: 'bucket', permission: 'READ' },
    needs: 'object:list',
    handle: listObjects,
  }),
  defineOperation({
    name: 'ListObjectsV2',
    on: 'bucket',
    method: 'GET',
    matches: ({ query }) => query.get('list-type') === '2',
    action: 's3:ListBucket',
    acl: { on: 'bucket', permission: 'READ' },
    needs: 'object:list',
    handle: listObjectsV2,
  }),
];
