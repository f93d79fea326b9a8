import { checkLifecycleRules } from '../../domain/lifecycle/check-lifecycle.ts';
import { parseLifecycleDocument } from '../../domain/lifecycle/lifecycle-document.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { lifecycleNode, parseLifecycleXml } from '../lifecycle-xml.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { bucketOf, type S3Handler } from '../s3-context.ts';

/** A thousand rules with ten tags each. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

export const getBucketLifecycle: S3Handler = async (context) => {
  const bucket = bucketOf(context);
  const configuration = await context.services.configurations.of(bucket);
  const document = configuration.parsed('lifecycle', parseLifecycleDocument);
  if (document === null || document.rules.length === 0) {
    throw storeErrors.NoSuchLifecycleConfiguration({ details: { resource: bucket.name } });
  }
  respondXml(context.response, 'LifecycleConfiguration', lifecycleNode(document));
};

export const putBucketLifecycle: S3Handler = async (context) => {
  const text = await receiveDocument(context, MAX_DOCUMENT_BYTES);
  if (text.trim() === '') throw storeErrors.MissingRequestBodyError();
  const document = parseLifecycleXml(text);
  checkLifecycleRules(document.rules);
  await context.services.configurations.put(bucketOf(context), 'lifecycle', JSON.stringify(document));
  respondEmpty(context.response, 200);
};

export const deleteBucketLifecycle: S3Handler = async (context) => {
  await context.services.configurations.put(bucketOf(context), 'lifecycle', null);
  respondEmpty(context.response, 204);
};
