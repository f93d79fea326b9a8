import { defineOperation, isCopy, type ObjectHandler } from '../operation.ts';
import { WRITE_OBJECT } from '../access/rules.ts';
import { storeErrors } from '../../errors.ts';
import type { CopiedObject } from '../../domain/copy-service.ts';
import type { EncryptionRequest } from '../../domain/encryption-service.ts';
import { aclOfNewObject } from '../access/new-object-acl.ts';
import {
  attributesOfCopy,
  findSource,
  readCopyChecksum,
  replaces,
  retryWhileChanging,
  type FoundSource,
} from '../copy-request.ts';
import { encryptionHeaders, readCopySourceCustomerKey, readEncryptionRequest } from '../encryption-headers.ts';
import { expirationHeaders, matchable } from '../expiration-header.ts';
import { readObjectLock } from '../object-lock-headers.ts';
import { readAttributes } from '../object-attributes.ts';
import { checksumElements, newVersionHeaders } from '../object-headers.ts';
import type { ObjectAttributes } from '../../domain/ports/records.ts';
import { toIsoDate } from '../page-parameters.ts';
import { parseWriteConditions } from '../request-conditions.ts';
import { respondXml, setHeaders } from '../respond.ts';
import { originOf, type ObjectContext } from '../s3-context.ts';

const copyObject: ObjectHandler = async (context) => {
  const { bucket } = context;
  const wanted = readEncryptionRequest(context);
  const { source, stored, encryption, attributes } = await retryWhileChanging(() => copy(context, wanted));
  setHeaders(context.response, {
    ...newVersionHeaders(stored.versionId),
    ...sourceVersionHeaders(source),
    ...encryptionHeaders(encryption, wanted.customerKey),
    ...(await expirationHeaders(context.services, bucket, matchable({ ...stored, key: context.key, attributes }))),
  });
  respondXml(context.response, 'CopyObjectResult', {
    LastModified: toIsoDate(stored.modifiedAtMs),
    ETag: `"${stored.etag}"`,
    ...checksumElements(stored.checksum),
  });
};

async function copy(
  context: ObjectContext,
  encryption: EncryptionRequest,
): Promise<CopiedObject & { source: FoundSource; attributes: ObjectAttributes }> {
  const { request, services } = context;
  const { headers } = request;
  const requested = readAttributes(headers, services.deps.config.limits.metadata_bytes);
  const checksumAlgorithm = readCopyChecksum(headers);
  const source = await findSource(context);
  assertChangesSomething(context, source);
  const attributes = attributesOfCopy(headers, source.found.version.attributes, requested);
  const acl = await aclOfNewObject(context);
  const lock = await readObjectLock(context);
  const copied = await services.copies.object({
    source: source.found,
    customerKey: readCopySourceCustomerKey(context),
    bucket: context.bucket,
    key: context.key,
    attributes: { ...attributes, ...acl, ...lock },
    checksumAlgorithm,
    encryption,
    conditions: parseWriteConditions(headers),
    origin: originOf(context),
  });
  return { source, attributes, ...copied };
}

/** Only versions in a bucket that has or had versioning enabled have an id to report. */
export function sourceVersionHeaders({ bucket, found }: FoundSource): Record<string, string> {
  return bucket.versioning === 'unversioned' ? {} : { 'x-amz-copy-source-version-id': found.version.versionId };
}

/** Headers that let an object be copied onto itself. */
const CHANGES = [
  'x-amz-storage-class',
  'x-amz-website-redirect-location',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-customer-algorithm',
  'x-amz-checksum-algorithm',
];

function assertChangesSomething(context: ObjectContext, { bucket, named }: FoundSource): void {
  const { headers } = context.request;
  const itself = bucket.id === context.bucket.id && named.key === context.key && named.versionId === undefined;
  if (!itself || replaces(headers, 'metadata') || replaces(headers, 'tagging')) return;
  if (CHANGES.some((name) => headers.has(name))) return;
  throw storeErrors.InvalidRequest({
    details: {
      reason:
        "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
    },
  });
}

export const copyOperations = [
  defineOperation({
    name: 'CopyObject',
    on: 'object',
    method: 'PUT',
    matches: isCopy,
    ...WRITE_OBJECT,
    handle: copyObject,
  }),
];
