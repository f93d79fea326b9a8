import { readBucketAccess } from '../../domain/access/bucket-access.ts';
import { mayDo } from '../../domain/caller.ts';
import type { FoundObject } from '../../domain/ports/objects.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import type { CopySource } from '../copy-source-header.ts';
import type { BucketContext } from '../s3-context.ts';
import { denied, findAllowed, type RequestAccess } from './authorize.ts';
import { READ_OBJECT } from './rules.ts';
import { isExpectedOwner } from './request-conditions.ts';

/**
 * Finds the source of a copy and checks that the caller may read it. Throws `NoSuchBucket`, `NoSuchKey`,
 * `NoSuchVersion` or `AccessDenied`, the latter also when `x-amz-source-expected-bucket-owner` does not match.
 */
export async function findCopySource(
  context: BucketContext,
  { bucketName, ...name }: CopySource,
): Promise<{ bucket: BucketRecord; found: FoundObject }> {
  const { services, caller, request } = context;
  const bucket = await services.buckets.get(bucketName);
  if (!isExpectedOwner(request.headers.get('x-amz-source-expected-bucket-owner'), bucket)) throw denied(bucket);
  if (!mayDo(caller, 'object:read', bucket.name)) throw denied(bucket);
  const access: RequestAccess = {
    rules: readBucketAccess(bucket, await services.configurations.of(bucket)),
    operation: READ_OBJECT,
    facts: { ...context.access.facts, bucket },
    loaded: null,
  };
  return { bucket, found: await findAllowed(services, access, name) };
}
