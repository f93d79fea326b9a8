import { aclOfNewObject } from '../access/new-object-acl.ts';
import { receiveContent } from '../body/receive-content.ts';
import { readAttributes } from '../object-attributes.ts';
import { checksumHeaders, versionHeaders } from '../object-headers.ts';
import { writeConditionsOf } from '../request-conditions.ts';
import { respondEmpty } from '../respond.ts';
import { bucketOf, keyOf, type S3Handler } from '../s3-context.ts';

export const putObject: S3Handler = async (context) => {
  const { request, response, services } = context;
  const bucket = bucketOf(context);
  const acl = await aclOfNewObject(context);
  const attributes = { ...readAttributes(request.headers, services.parts.config.limits.metadata_bytes), ...acl };
  const conditions = writeConditionsOf(request.headers);
  const received = await receiveContent(context, { inline: true });
  const stored = await services.objects.put({
    bucket,
    key: keyOf(context),
    content: received.content,
    sizeBytes: received.sizeBytes,
    etag: received.md5,
    attributes,
    checksum: received.checksum,
    conditions,
  });
  respondEmpty(response, 200, {
    etag: `"${stored.etag}"`,
    ...checksumHeaders(stored.checksum),
    ...versionHeaders(bucket, stored.versionId),
  });
};
