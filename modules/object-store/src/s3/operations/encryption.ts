import { defineOperation, type BucketHandler } from '../operation.ts';
import { isEncryptionAlgorithm } from '../../domain/encryption-service.ts';
import type { EncryptionDocument } from '../../domain/encryption-document.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { children, childText, parseXml } from '../xml-reader.ts';

const MAX_DOCUMENT_BYTES = 16 * 1024;
const ROOT = 'ServerSideEncryptionConfiguration';

const getBucketEncryption: BucketHandler = async (context) => {
  const document = await context.services.encryption.findDefault(context.bucket);
  if (document === null) throw storeErrors.ServerSideEncryptionConfigurationNotFoundError();
  respondXml(context.response, ROOT, {
    Rule: [
      {
        ApplyServerSideEncryptionByDefault: { SSEAlgorithm: document.algorithm, KMSMasterKeyID: document.key_id },
        BucketKeyEnabled: document.bucket_key_enabled ?? false,
      },
    ],
  });
};

const putBucketEncryption: BucketHandler = async (context) => {
  const document = readEncryptionDocument(await receiveDocument(context, MAX_DOCUMENT_BYTES));
  await context.services.encryption.setDefault(context.bucket, document);
  respondEmpty(context.response, 200);
};

const deleteBucketEncryption: BucketHandler = async (context) => {
  await context.services.encryption.setDefault(context.bucket, null);
  respondEmpty(context.response, 204);
};

export function readEncryptionDocument(xml: string): EncryptionDocument {
  const [rule, ...more] = children(parseXml(xml, ROOT), 'Rule');
  const [chosen] = rule === undefined ? [] : children(rule, 'ApplyServerSideEncryptionByDefault');
  if (rule === undefined || chosen === undefined || more.length > 0) throw storeErrors.MalformedXML();
  const algorithm = childText(chosen, 'SSEAlgorithm');
  const keyId = childText(chosen, 'KMSMasterKeyID');
  const bucketKey = childText(rule, 'BucketKeyEnabled');
  if (algorithm === undefined || !isEncryptionAlgorithm(algorithm)) throw storeErrors.MalformedXML();
  if (keyId !== undefined && algorithm !== 'aws:kms') {
    throw storeErrors.InvalidArgument({
      details: { reason: 'a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms' },
    });
  }
  return {
    algorithm,
    ...(keyId === undefined || keyId === '' ? {} : { key_id: keyId }),
    ...(bucketKey === undefined ? {} : { bucket_key_enabled: bucketKey.trim() === 'true' }),
  };
}

export const encryptionOperations = [
  defineOperation({
    name: 'GetBucketEncryption',
    on: 'bucket',
    method: 'GET',
    subresource: 'encryption',
    action: 's3:GetEncryptionConfiguration',
    needs: 'bucket:read',
    handle: getBucketEncryption,
  }),
  defineOperation({
    name: 'PutBucketEncryption',
    on: 'bucket',
    method: 'PUT',
    subresource: 'encryption',
    action: 's3:PutEncryptionConfiguration',
    needs: 'bucket:update',
    handle: putBucketEncryption,
  }),
  defineOperation({
    name: 'DeleteBucketEncryption',
    on: 'bucket',
    method: 'DELETE',
    subresource: 'encryption',
    action: 's3:PutEncryptionConfiguration',
    needs: 'bucket:update',
    handle: deleteBucketEncryption,
  }),
];
