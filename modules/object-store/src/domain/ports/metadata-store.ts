import type { AccessKeyCommands, AccessKeyQueries } from './access-keys.ts';
import type { BlobCommands, BlobQueries } from './blobs.ts';
import type { BucketForkCommands, BucketForkQueries } from './bucket-forks.ts';
import type { BucketConfigurationCommands, BucketConfigurationQueries } from './bucket-configuration.ts';
import type { BucketCommands, BucketQueries } from './buckets.ts';
import type { CopyCommands } from './copy-commands.ts';
import type { DomainCommands, DomainQueries } from './custom-domains.ts';
import type { KeyRingCommands, KeyRingQueries } from './key-ring.ts';
import type { LifecycleQueries } from './lifecycle-metadata.ts';
import type { NotificationCommands, NotificationQueries } from './notifications.ts';
import type { ObjectCommands, ObjectQueries } from './objects.ts';
import type { StorePropertyCommands, StorePropertyQueries } from './store-properties.ts';
import type { TrashCommands, TrashQueries } from './trash.ts';
import type { UploadCommands } from './upload-commands.ts';
import type { UploadQueries } from './upload-queries.ts';
import type { UsageHistoryCommands, UsageHistoryQueries } from './usage-history.ts';
import type { VersionQueries } from './version-listing.ts';
import type { WorkLeaseCommands, WorkLeaseQueries } from './work-leases.ts';

/** Each command is one transaction: on stable storage in full when the promise resolves, or not visible at all. */
export interface MetadataCommands
  extends
    AccessKeyCommands,
    BlobCommands,
    BucketCommands,
    BucketConfigurationCommands,
    BucketForkCommands,
    CopyCommands,
    DomainCommands,
    KeyRingCommands,
    NotificationCommands,
    ObjectCommands,
    StorePropertyCommands,
    TrashCommands,
    UploadCommands,
    UsageHistoryCommands,
    WorkLeaseCommands {}

/** Each query reads one consistent state, does bounded work and holds no resources after it resolves. */
export interface MetadataQueries
  extends
    AccessKeyQueries,
    BlobQueries,
    BucketQueries,
    BucketConfigurationQueries,
    BucketForkQueries,
    DomainQueries,
    KeyRingQueries,
    LifecycleQueries,
    NotificationQueries,
    ObjectQueries,
    StorePropertyQueries,
    TrashQueries,
    UploadQueries,
    UsageHistoryQueries,
    VersionQueries,
    WorkLeaseQueries {}

/** The store's metadata: the ports above in one. Every implementation passes the same contract suite. */
export interface MetadataStore extends MetadataCommands, MetadataQueries {
  /** Resolves once every transaction that began earlier has ended, on any replica. */
  settle(): Promise<void>;
  /** Throws an error with the reason if the store can neither read nor write now. */
  check(): Promise<void>;
  /** Resolves after the last acknowledged command is on disk. */
  close(): Promise<void>;
}
