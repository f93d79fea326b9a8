import { defineOperation, type BucketHandler } from '../operation.ts';
import { checkLifecycleRules } from '../../domain/lifecycle/check-lifecycle.ts';
import { parseLifecycleDocument } from '../../domain/lifecycle/lifecycle-document.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { lifecycleNode, parseLifecycleXml } from '../lifecycle-xml.ts';
import { respondEmpty, respondXml } from '../respond.ts';

/** A thousand rules with ten tags each. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

const getBucketLifecycle: BucketHandler = async (context) => {
  const { bucket } = context;
  const configuration = await context.services.configurations.of(bucket);
  const document = configuration.parsed('lifecycle', parseLifecycleDocument);
  if (document === null || document.rules.length === 0) {
    throw storeErrors.NoSuchLifecycleConfiguration({ details: { resource: bucket.name } });
  }
  respondXml(context.response, 'LifecycleConfiguration', lifecycleNode(document));
};

const putBucketLifecycle: BucketHandler = async (context) => {
  const text = await receiveDocument(context, MAX_DOCUMENT_BYTES);
  if (text.trim() === '') throw storeErrors.MissingRequestBodyError();
  const document = parseLifecycleXml(text);
  checkLifecycleRules(document.rules);
  await context.services.configurations.put(context.bucket, 'lifecycle', JSON.stringify(document));
  respondEmpty(context.response, 200);
};

const deleteBucketLifecycle: BucketHandler = async (context) => {
  await context.services.configurations.put(context.bucket, 'lifecycle', null);
  respondEmpty(context.response, 204);
};

export const lifecycleOperations = [
  defineOperation({
    name: 'GetBucketLifecycleConfiguration',
    on: 'bucket',
    method: 'GET',
    subresource: 'lifecycle',
    action: 's3:GetLifecycleConfiguration',
    needs: 'bucket:read',
    handle: getBucketLifecycle,
  }),
  defineOperation({
    name: 'PutBucketLifecycleConfiguration',
    on: 'bucket',
    method: 'PUT',
    subresource: 'lifecycle',
    action: 's3:PutLifecycleConfiguration',
    needs: 'bucket:update',
    handle: putBucketLifecycle,
  }),
  defineOperation({
    name: 'DeleteBucketLifecycle',
    on: 'bucket',
    method: 'DELETE',
    subresource: 'lifecycle',
    action: 's3:PutLifecycleConfiguration',
    needs: 'bucket:update',
    handle: deleteBucketLifecycle,
  }),
];
