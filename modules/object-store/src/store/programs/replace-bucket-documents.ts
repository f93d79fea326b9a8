import { storeErrors } from '../../errors.ts';
import type { ReplaceBucketDocuments } from '../../domain/ports/bucket-configuration.ts';
import { first, lock, type Program } from '../program.ts';
import { integer } from '../row.ts';
import { putBucketDocument } from './bucket-document-programs.ts';

/**
 * Replaces several documents in one step, only if none changed since `ifVersion`. Otherwise the caller merges and
 * retries.
 */
export function* replaceBucketDocuments(input: ReplaceBucketDocuments): Program<boolean> {
  const { bucketId, ifVersion, documents, nowMs } = input;
  yield* lock(`bucket/${bucketId}`);
  const bucket = yield* first(`select configuration_version from bucket where id = ? and state = 'active'`, bucketId);
  if (bucket === undefined) throw storeErrors.NoSuchBucket();
  if (integer(bucket, 'configuration_version') !== ifVersion) return false;
  for (const { name, document } of documents) yield* putBucketDocument({ bucketId, name, document, nowMs });
  return true;
}
