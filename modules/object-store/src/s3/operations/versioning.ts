import { defineOperation, type BucketHandler } from '../operation.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { childText, parseXml } from '../xml-reader.ts';

const MAX_DOCUMENT_BYTES = 4 * 1024;

const STATUSES = { enabled: 'Enabled', suspended: 'Suspended' } as const;

/** A bucket that was never versioned has no status. */
const getBucketVersioning: BucketHandler = async (context) => {
  const { versioning } = context.bucket;
  const content = versioning === 'unversioned' ? {} : { Status: STATUSES[versioning] };
  respondXml(context.response, 'VersioningConfiguration', content);
};

const putBucketVersioning: BucketHandler = async (context) => {
  const { bucket } = context;
  const document = await receiveDocument(context, MAX_DOCUMENT_BYTES);
  if (document.trim() === '') throw storeErrors.MissingRequestBodyError();
  const root = parseXml(document, 'VersioningConfiguration');
  if (childText(root, 'MfaDelete') === 'Enabled') {
    throw storeErrors.NotImplemented({ details: { operation: 'MfaDelete' } });
  }
  const status = childText(root, 'Status');
  if (status !== 'Enabled' && status !== 'Suspended') {
    if (status !== undefined) throw storeErrors.MalformedXML();
    throw storeErrors.IllegalVersioningConfigurationException();
  }
  const versioning = status === 'Enabled' ? 'enabled' : 'suspended';
  await context.services.deps.metadata.setVersioning({ bucketId: bucket.id, versioning });
  respondEmpty(context.response, 200);
};

export const versioningOperations = [
  defineOperation({
    name: 'GetBucketVersioning',
    on: 'bucket',
    method: 'GET',
    subresource: 'versioning',
    action: 's3:GetBucketVersioning',
    needs: 'bucket:read',
    handle: getBucketVersioning,
  }),
  defineOperation({
    name: 'PutBucketVersioning',
    on: 'bucket',
    method: 'PUT',
    subresource: 'versioning',
    action: 's3:PutBucketVersioning',
    needs: 'bucket:update',
    handle: putBucketVersioning,
  }),
];
