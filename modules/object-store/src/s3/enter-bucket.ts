import type { BucketRecord } from '../domain/ports/records.ts';
import { countTraffic } from '../domain/usage/count-traffic.ts';
import { denied } from './access/authorize.ts';
import { isExpectedOwner } from './access/request-conditions.ts';
import type { S3Context } from './s3-context.ts';

/** From here on the request counts as the bucket's traffic. Throws `AccessDenied` when it expects another owner. */
export function enterBucket(
  { request, response, services }: Pick<S3Context, 'request' | 'response' | 'services'>,
  bucket: BucketRecord,
): void {
  countTraffic(services.traffic, bucket, request.incoming, response);
  if (!isExpectedOwner(request.headers.get('x-amz-expected-bucket-owner'), bucket)) throw denied(bucket);
}
