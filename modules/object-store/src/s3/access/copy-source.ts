import { bucketAccessOf } from '../../domain/access/bucket-access.ts';
import { mayDo } from '../../domain/caller.ts';
import type { FoundObject } from '../../domain/ports/metadata-store.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { accessOf, type S3Context } from '../s3-context.ts';
import { denied, findAllowed, type RequestAccess } from './authorize.ts';
import { operationActions } from './operation-actions.ts';
import { isExpectedOwner } from './request-conditions.ts';

export interface CopySource {
  bucketName: string;
  key: string;
  versionId?: string;
}

/**
 * What a copy reads, if the caller may read it. Throws `NoSuchBucket`, `NoSuchKey`, `NoSuchVersion`, and `AccessDenied` also
 * where `x-amz-source-expected-bucket-owner` names somebody else.
 */
export async function findCopySource(
  context: S3Context,
  { bucketName, ...name }: CopySource,
): Promise<{ bucket: BucketRecord; found: FoundObject }> {
  const { services, caller, request } = context;
  const bucket = await services.buckets.get(bucketName);
  if (!isExpectedOwner(request.headers.get('x-amz-source-expected-bucket-owner'), bucket)) throw denied(bucket);
  if (!mayDo(caller, 'object:read', bucket.name)) throw denied(bucket);
  const access: RequestAccess = {
    rules: bucketAccessOf(bucket, await services.configurations.of(bucket)),
    action: operationActions.GetObject,
    needs: 'object:read',
    circumstances: { ...accessOf(context).circumstances, bucket },
    loaded: null,
  };
  return { bucket, found: await findAllowed(services, access, name) };
}
