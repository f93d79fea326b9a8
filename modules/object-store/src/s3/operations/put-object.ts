import { defineOperation, type ObjectHandler } from '../operation.ts';
import { WRITE_OBJECT } from '../access/rules.ts';
import type { OutgoingHttpHeaders } from 'node:http';
import type { EventName } from '../../domain/notifications/event-names.ts';
import type { ObjectAttributes } from '../../domain/ports/records.ts';
import { aclOfNewObject } from '../access/new-object-acl.ts';
import { createRequestSource } from '../body/request-source.ts';
import { encryptionHeaders, readEncryptionRequest } from '../encryption-headers.ts';
import { expirationHeaders, matchable } from '../expiration-header.ts';
import { readObjectLock } from '../object-lock-headers.ts';
import { readAttributes } from '../object-attributes.ts';
import { checksumHeaders, newVersionHeaders } from '../object-headers.ts';
import { parseWriteConditions } from '../request-conditions.ts';
import { respondEmpty } from '../respond.ts';
import { originOf, type ObjectContext } from '../s3-context.ts';

const putObject: ObjectHandler = async (context) => {
  const { etag, headers } = await storeObject(context, {});
  respondEmpty(context.response, 200, { etag: `"${etag}"`, ...headers });
};

export interface StoredObject {
  /** Without quotes. */
  etag: string;
  /** Response headers for the object, other than its ETag. */
  headers: OutgoingHttpHeaders;
}

/** Stores the object of a PUT or of a form. `more` holds attributes that are not in the headers. */
export async function storeObject(
  context: ObjectContext,
  more: Partial<ObjectAttributes>,
  eventName: EventName = 'ObjectCreated:Put',
): Promise<StoredObject> {
  const { request, services } = context;
  const { bucket } = context;
  const acl = await aclOfNewObject(context);
  const attributes = {
    ...readAttributes(request.headers, services.deps.config.limits.metadata_bytes),
    ...more,
    ...acl,
    ...(await readObjectLock(context)),
  };
  const conditions = parseWriteConditions(request.headers);
  const wanted = readEncryptionRequest(context);
  const sealed = await services.encryption.forWrite(bucket, wanted);
  await using content = await services.content.store({
    source: createRequestSource(context),
    bucket,
    key: sealed?.key ?? null,
    kind: 'object',
    contentType: attributes.contentType,
  });
  const stored = await services.objects.put({
    bucket,
    key: context.key,
    content,
    attributes: sealed === null ? attributes : { ...attributes, encryption: sealed.encryption },
    conditions,
    origin: originOf(context),
    eventName,
  });
  const headers = {
    ...checksumHeaders(stored.checksum),
    ...encryptionHeaders(sealed?.encryption, wanted.customerKey),
    ...newVersionHeaders(stored.versionId),
    ...(await expirationHeaders(services, bucket, matchable({ ...stored, key: context.key, attributes }))),
  };
  return { etag: stored.etag, headers };
}

export const putObjectOperations = [
  defineOperation({
    name: 'PutObject',
    on: 'object',
    method: 'PUT',
    ...WRITE_OBJECT,
    handle: putObject,
  }),
];
