import { aclOfNewObject } from '../access/new-object-acl.ts';
import { receiveContent } from '../body/receive-content.ts';
import { encryptionHeaders, readEncryptionRequest } from '../encryption-headers.ts';
import { readObjectLock } from '../object-lock-headers.ts';
import { readAttributes } from '../object-attributes.ts';
import { checksumHeaders, versionHeaders } from '../object-headers.ts';
import { writeConditionsOf } from '../request-conditions.ts';
import { respondEmpty } from '../respond.ts';
import { bucketOf, keyOf, type S3Handler } from '../s3-context.ts';

export const putObject: S3Handler = async (context) => {
  const { request, response, services } = context;
  const bucket = bucketOf(context);
  const acl = await aclOfNewObject(context);
  const attributes = {
    ...readAttributes(request.headers, services.parts.config.limits.metadata_bytes),
    ...acl,
    ...(await readObjectLock(context)),
  };
  const conditions = writeConditionsOf(request.headers);
  const wanted = readEncryptionRequest(context);
  const sealed = await services.encryption.forWrite(bucket, wanted);
  const received = await receiveContent(context, { inline: true, key: sealed?.key ?? null });
  const stored = await services.objects.put({
    bucket,
    key: keyOf(context),
    content: received.content,
    sizeBytes: received.sizeBytes,
    etag: received.etag,
    attributes: sealed === null ? attributes : { ...attributes, encryption: sealed.encryption },
    checksum: received.checksum,
    conditions,
  });
  respondEmpty(response, 200, {
    etag: `"${stored.etag}"`,
    ...checksumHeaders(stored.checksum),
    ...encryptionHeaders(sealed?.encryption, wanted.customerKey),
    ...versionHeaders(bucket, stored.versionId),
  });
};
