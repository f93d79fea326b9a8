import type { BucketRecord } from '../domain/ports/records.ts';
import { admitRequest } from '../domain/admission.ts';
import { countTraffic } from './count-traffic.ts';
import { denied } from './access/authorize.ts';
import { isExpectedOwner } from './access/request-conditions.ts';
import type { S3Context } from './s3-context.ts';

/**
 * Counts the request toward the bucket's traffic. An anonymous request waits for a turn of the bucket's workspace.
 * Throws `SlowDown` if that workspace is over its rate, and `AccessDenied` if the request expects another owner.
 */
export async function enterBucket(
  { request, response, services, caller }: Pick<S3Context, 'request' | 'response' | 'services' | 'caller'>,
  bucket: BucketRecord,
): Promise<void> {
  if (caller.workspaceUuid === null) await admitRequest(services, bucket.workspaceUuid, true);
  countTraffic(services.traffic, bucket, request.incoming, response);
  if (!isExpectedOwner(request.headers.get('x-amz-expected-bucket-owner'), bucket)) throw denied(bucket);
}
