import { isEncryptionAlgorithm } from '../../domain/encryption-service.ts';
import type { EncryptionDocument } from '../../domain/encryption-document.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { bucketOf, type S3Handler } from '../s3-context.ts';
import { children, childText, parseXml } from '../xml-reader.ts';

const MAX_DOCUMENT_BYTES = 16 * 1024;
const ROOT = 'ServerSideEncryptionConfiguration';

export const getBucketEncryption: S3Handler = async (context) => {
  const document = await context.services.encryption.defaultOf(bucketOf(context));
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

export const putBucketEncryption: S3Handler = async (context) => {
  const document = readEncryptionDocument(await receiveDocument(context, MAX_DOCUMENT_BYTES));
  await context.services.encryption.setDefault(bucketOf(context), document);
  respondEmpty(context.response, 200);
};

export const deleteBucketEncryption: S3Handler = async (context) => {
  await context.services.encryption.setDefault(bucketOf(context), null);
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
