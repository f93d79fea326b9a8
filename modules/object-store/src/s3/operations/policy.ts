import { isPublicAcl } from '../../domain/access/access-control-list.ts';
import { MAX_POLICY_BYTES, parsePolicy } from '../../domain/access/policy/parse-policy.ts';
import { malformedPolicy } from '../../domain/access/policy/malformed-policy.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';
import { accessOf, bucketOf, type S3Handler } from '../s3-context.ts';

/** What is longer than a policy may be is read so far, to be refused by name. */
const MAX_BODY_BYTES = 256 * 1024;

/** The document as it was put, to the byte. */
export const getBucketPolicy: S3Handler = async (context) => {
  const bucket = bucketOf(context);
  const policy = (await context.services.configurations.of(bucket)).text('policy');
  if (policy === null) throw storeErrors.NoSuchBucketPolicy({ details: { resource: bucket.name } });
  const body = Buffer.from(policy);
  context.response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  context.response.end(body);
};

export const putBucketPolicy: S3Handler = async (context) => {
  const bucket = bucketOf(context);
  const document = await receiveDocument(context, MAX_BODY_BYTES);
  if (document === '') throw storeErrors.MissingRequestBodyError();
  if (Buffer.byteLength(document) > MAX_POLICY_BYTES) {
    throw malformedPolicy('Bucket policies must be at most 20 KiB in size');
  }
  const { isPublic } = parsePolicy(document, bucket.name);
  if (isPublic && accessOf(context).rules.block.blockPublicPolicy) {
    throw storeErrors.AccessDenied({ details: { reason: 'Public policies are blocked by the public access block' } });
  }
  await context.services.configurations.put(bucket, 'policy', document);
  respondEmpty(context.response, 204);
};

export const deleteBucketPolicy: S3Handler = async (context) => {
  await context.services.configurations.put(bucketOf(context), 'policy', null);
  respondEmpty(context.response, 204);
};

/** Whether the bucket is open to people whom its owner did not name, by policy or by ACL, block or not. */
export const getBucketPolicyStatus: S3Handler = async (context) => {
  const { policy, acl, ownership } = accessOf(context).rules;
  const byAcl = ownership !== 'BucketOwnerEnforced' && isPublicAcl(acl);
  respondXml(context.response, 'PolicyStatus', { IsPublic: policy?.isPublic === true || byAcl });
};
