import { defineOperation, type ObjectHandler, type BucketHandler } from '../operation.ts';
import { MAX_BUCKET_TAGS, MAX_OBJECT_TAGS, type Tags } from '../../domain/tags.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { storeErrors } from '../../errors.ts';
import { findObject } from '../access/find-object.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { versionHeaders } from '../object-headers.ts';
import { respondEmpty, respondXml, setHeaders } from '../respond.ts';
import type { ObjectContext, S3Context } from '../s3-context.ts';
import { parseTagging, taggingNode } from '../tagging-document.ts';

/** Fifty tags of maximum length, with each character written as a reference. */
const MAX_DOCUMENT_BYTES = 512 * 1024;

const getObjectTagging: ObjectHandler = async (context) => {
  const { version } = await findObject(context);
  setHeaders(context.response, versionHeaders(context.bucket, version.versionId));
  respondXml(context.response, 'Tagging', taggingNode(version.attributes.tags ?? {}));
};

const putObjectTagging: ObjectHandler = async (context) => {
  const tags = parseTagging(await receiveTagging(context), MAX_OBJECT_TAGS);
  await changeTags(context, Object.keys(tags).length === 0 ? null : tags, 200);
};

const deleteObjectTagging: ObjectHandler = (context) => changeTags(context, null, 204);

const getBucketTagging: BucketHandler = async (context) => {
  const { bucket } = context;
  const configuration = await context.services.configurations.of(bucket);
  const tags = configuration.parsed('tagging', (document) => JSON.parse(document) as Tags); // written below
  if (tags === null) throw storeErrors.NoSuchTagSet({ details: { resource: bucket.name } });
  respondXml(context.response, 'Tagging', taggingNode(tags));
};

const putBucketTagging: BucketHandler = async (context) => {
  const tags = parseTagging(await receiveTagging(context), MAX_BUCKET_TAGS);
  await context.services.configurations.put(context.bucket, 'tagging', JSON.stringify(tags));
  respondEmpty(context.response, 204);
};

const deleteBucketTagging: BucketHandler = async (context) => {
  await context.services.configurations.put(context.bucket, 'tagging', null);
  respondEmpty(context.response, 204);
};

async function receiveTagging(context: S3Context): Promise<string> {
  const document = await receiveDocument(context, MAX_DOCUMENT_BYTES);
  if (document.trim() === '') throw storeErrors.MissingRequestBodyError();
  return document;
}

async function changeTags(context: ObjectContext, tags: Tags | null, status: number): Promise<void> {
  const { bucket, ...name } = readObjectName(context);
  const { metadata } = context.services.deps;
  const version = await metadata.changeAttributes({ ...name, bucketId: bucket.id, changes: { tags } });
  respondEmpty(context.response, status, versionHeaders(bucket, version.versionId));
}

function readObjectName(context: ObjectContext): { bucket: BucketRecord; key: string; versionId?: string } {
  const versionId = context.request.query.versionId();
  return { bucket: context.bucket, key: context.key, ...(versionId === undefined ? {} : { versionId }) };
}

export const taggingOperations = [
  defineOperation({
    name: 'GetObjectTagging',
    on: 'object',
    method: 'GET',
    subresource: 'tagging',
    action: 's3:GetObjectTagging',
    versionAction: 's3:GetObjectVersionTagging',
    asks: 'object',
    needs: 'object:read',
    handle: getObjectTagging,
  }),
  defineOperation({
    name: 'PutObjectTagging',
    on: 'object',
    method: 'PUT',
    subresource: 'tagging',
    action: 's3:PutObjectTagging',
    versionAction: 's3:PutObjectVersionTagging',
    asks: 'object',
    needs: 'object:write',
    handle: putObjectTagging,
  }),
  defineOperation({
    name: 'DeleteObjectTagging',
    on: 'object',
    method: 'DELETE',
    subresource: 'tagging',
    action: 's3:DeleteObjectTagging',
    versionAction: 's3:DeleteObjectVersionTagging',
    asks: 'object',
    needs: 'object:write',
    handle: deleteObjectTagging,
  }),
  defineOperation({
    name: 'GetBucketTagging',
    on: 'bucket',
    method: 'GET',
    subresource: 'tagging',
    action: 's3:GetBucketTagging',
    needs: 'bucket:read',
    handle: getBucketTagging,
  }),
  defineOperation({
    name: 'PutBucketTagging',
    on: 'bucket',
    method: 'PUT',
    subresource: 'tagging',
    action: 's3:PutBucketTagging',
    needs: 'bucket:update',
    handle: putBucketTagging,
  }),
  defineOperation({
    name: 'DeleteBucketTagging',
    on: 'bucket',
    method: 'DELETE',
    subresource: 'tagging',
    action: 's3:PutBucketTagging',
    needs: 'bucket:update',
    handle: deleteBucketTagging,
  }),
];
