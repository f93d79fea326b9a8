import type { Clock } from '@svc/runtime';
import { storeErrors } from '../../errors.ts';
import type { BucketConfigurationCommands } from '../ports/bucket-configuration.ts';
import type { BucketDocumentName, BucketRecord } from '../ports/records.ts';
import type { BucketConfiguration, BucketConfigurations } from '../bucket-configurations.ts';

export interface DocumentChange {
  name: BucketDocumentName;
  /** Null removes the document. */
  document: string | null;
}

export interface DocumentEdit {
  /** Reads the bucket again, with the caller's own access checks. */
  find: () => Promise<BucketRecord>;
  /** Returns the changes, given the current documents. */
  edit: (
    configuration: BucketConfiguration,
    bucket: BucketRecord,
  ) => readonly DocumentChange[] | Promise<readonly DocumentChange[]>;
}

const MOST_ATTEMPTS = 8;

/**
 * Reads, changes and writes documents of a bucket atomically: concurrent changes are all kept, on any replica. Returns
 * the bucket and its documents after the change. Throws `OperationAborted` if concurrent changes prevent it repeatedly.
 */
export async function editDocuments(
  deps: { metadata: BucketConfigurationCommands; configurations: BucketConfigurations; clock: Clock },
  { find, edit }: DocumentEdit,
): Promise<{ bucket: BucketRecord; configuration: BucketConfiguration }> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const bucket = await find();
    const documents = await edit(await deps.configurations.of(bucket), bucket);
    const ifVersion = bucket.configurationVersion;
    const change = { bucketId: bucket.id, ifVersion, documents, nowMs: deps.clock.nowMs() };
    if (await deps.metadata.replaceBucketDocuments(change)) {
      const changed = await find();
      return { bucket: changed, configuration: await deps.configurations.of(changed) };
    }
  }
  throw storeErrors.OperationAborted();
}
