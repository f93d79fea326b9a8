import { defineOperation, type BucketHandler } from '../operation.ts';
import { isPublicAcl } from '../../domain/access/access-control-list.ts';
import { MAX_POLICY_BYTES, parsePolicy } from '../../domain/access/policy/parse-policy.ts';
import { malformedPolicy } from '../../domain/access/policy/malformed-policy.ts';
import { storeErrors } from '../../errors.ts';
import { receiveDocument } from '../body/receive-document.ts';
import { respondEmpty, respondXml } from '../respond.ts';

/** Limit on reading the body. Above the policy limit, so that an oversized policy gets its own error. */
const MAX_BODY_BYTES = 256 * 1024;

/** Returns the document exactly as it was put. */
const getBucketPolicy: BucketHandler = async (context) => {
  const { bucket } = context;
  const policy = (await context.services.configurations.of(bucket)).text('policy');
  if (policy === null) throw storeErrors.NoSuchBucketPolicy({ details: { resource: bucket.name } });
  const body = Buffer.from(policy);
  context.response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  context.response.end(body);
};

const putBucketPolicy: BucketHandler = async (context) => {
  const { bucket } = context;
  const document = await receiveDocument(context, MAX_BODY_BYTES);
  if (document === '') throw storeErrors.MissingRequestBodyError();
  if (Buffer.byteLength(document) > MAX_POLICY_BYTES) {
    throw malformedPolicy('Bucket policies must be at most 20 KiB in size');
  }
  const { isPublic } = parsePolicy(document, bucket.name);
  if (isPublic && context.access.rules.block.blockPublicPolicy) {
    throw storeErrors.AccessDenied({ details: { reason: 'Public policies are blocked by the public access block' } });
  }
  await context.services.configurations.put(bucket, 'policy', document);
  respondEmpty(context.response, 204);
};

const deleteBucketPolicy: BucketHandler = async (context) => {
  await context.services.configurations.put(context.bucket, 'policy', null);
  respondEmpty(context.response, 204);
};

/** Whether the policy or the ACL makes the bucket public, regardless of the public access block. */
const getBucketPolicyStatus: BucketHandler = async (context) => {
  const { policy, acl, ownership } = context.access.rules;
  const byAcl = ownership !== 'BucketOwnerEnforced' && isPublicAcl(acl);
  respondXml(context.response, 'PolicyStatus', { IsPublic: policy?.isPublic === true || byAcl });
};

export const policyOperations = [
  defineOperation({
    name: 'GetBucketPolicy',
    on: 'bucket',
    method: 'GET',
    subresource: 'policy',
    action: 's3:GetBucketPolicy',
    needs: 'bucket:read',
    handle: getBucketPolicy,
  }),
  defineOperation({
    name: 'PutBucketPolicy',
    on: 'bucket',
    method: 'PUT',
    subresource: 'policy',
    action: 's3:PutBucketPolicy',
    needs: 'bucket:update',
    handle: putBucketPolicy,
  }),
  defineOperation({
    name: 'DeleteBucketPolicy',
    on: 'bucket',
    method: 'DELETE',
    subresource: 'policy',
    action: 's3:DeleteBucketPolicy',
    needs: 'bucket:update',
    handle: deleteBucketPolicy,
  }),
  defineOperation({
    name: 'GetBucketPolicyStatus',
    on: 'bucket',
    method: 'GET',
    subresource: 'policyStatus',
    action: 's3:GetBucketPolicyStatus',
    needs: 'bucket:read',
    handle: getBucketPolicyStatus,
  }),
];
