import { MAX_BUCKET_TAGS, MAX_OBJECT_TAGS, type Tags } from '../../domain/tags.ts';
import { storeErrors } from '../../errors.ts';
import { findObject } from '../access/find-object.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { versionHeaders } from '../object-headers.ts';
import { respondEmpty, respondXml, setHeaders } from '../respond.ts';
import { bucketOf, keyOf, type S3Context, type S3Handler } from '../s3-context.ts';
import { parseTagging, taggingNode } from '../tagging-document.ts';

/** Fifty tags of the longest kind, each character as a reference. */
const MAX_DOCUMENT_BYTES = 512 * 1024;

export const getObjectTagging: S3Handler = async (context) => {
  const { version } = await findObject(context);
  setHeaders(context.response, versionHeaders(bucketOf(context), version.versionId));
  respondXml(context.response, 'Tagging', taggingNode(version.attributes.tags ?? {}));
};

export const putObjectTagging: S3Handler = async (context) => {
  const tags = parseTagging(await receiveTagging(context), MAX_OBJECT_TAGS);
  await changeTags(context, Object.keys(tags).length === 0 ? null : tags, 200);
};

export const deleteObjectTagging: S3Handler = (context) => changeTags(context, null, 204);

export const getBucketTagging: S3Handler = async (context) => {
  const bucket = bucketOf(context);
  const configuration = await context.services.configurations.of(bucket);
  const tags = configuration.parsed('tagging', (document) => JSON.parse(document) as Tags); // written below
  if (tags === null) throw storeErrors.NoSuchTagSet({ details: { resource: bucket.name } });
  respondXml(context.response, 'Tagging', taggingNode(tags));
};

export const putBucketTagging: S3Handler = async (context) => {
  const tags = parseTagging(await receiveTagging(context), MAX_BUCKET_TAGS);
  await context.services.configurations.put(bucketOf(context), 'tagging', JSON.stringify(tags));
  respondEmpty(context.response, 204);
};

export const deleteBucketTagging: S3Handler = async (context) => {
  await context.services.configurations.put(bucketOf(context), 'tagging', null);
  respondEmpty(context.response, 204);
};

async function receiveTagging(context: S3Context): Promise<string> {
  const document = await receiveDocument(context, MAX_DOCUMENT_BYTES);
  if (document.trim() === '') throw storeErrors.MissingRequestBodyError();
  return document;
}

async function changeTags(context: S3Context, tags: Tags | null, status: number): Promise<void> {
  const { bucket, ...name } = objectOf(context);
  const { metadata } = context.services.parts;
  const version = await metadata.changeAttributes({ ...name, bucketId: bucket.id, changes: { tags } });
  respondEmpty(context.response, status, versionHeaders(bucket, version.versionId));
}

function objectOf(context: S3Context): { bucket: ReturnType<typeof bucketOf>; key: string; versionId?: string } {
  const versionId = context.request.query.versionId();
  return { bucket: bucketOf(context), key: keyOf(context), ...(versionId === undefined ? {} : { versionId }) };
}
