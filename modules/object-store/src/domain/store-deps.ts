import type { QuotaLimits, WorkspaceTraffic } from '@svc/quotas';
import type { Clock, DiskSpace } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { HashingDeps } from './checksums/body-hasher.ts';
import type { ObjectStoreConfig } from '../config.ts';
import type { ReadCache } from './content/read-cache.ts';
import type { BlobStore } from './ports/blob-store.ts';
import type { MakerRights } from './ports/maker-rights.ts';
import type { MetadataStore } from './ports/metadata-store.ts';
import type { WebhookSender } from '@svc/webhooks';
import type { OwnerDirectory } from './ports/owner-directory.ts';
import type { KeyRing } from './secrets/key-ring.ts';
import type { ActiveReads } from './active-reads.ts';
import type { Identifiers } from './identifiers.ts';

/** The dependencies of the store's services. */
export interface StoreDeps {
  metadata: MetadataStore;
  blobs: BlobStore;
  readCache: ReadCache;
  hashing: HashingDeps;
  owners: OwnerDirectory;
  rights: MakerRights;
  /** Seals object data keys and secrets. */
  secrets: KeyRing;
  webhooks: WebhookSender;
  identifiers: Identifiers;
  activeReads: ActiveReads;
  /** The limits of each workspace and its owner. */
  quotaLimits: QuotaLimits;
  /** Request limits of workspaces. */
  workspaceTraffic: WorkspaceTraffic;
  /** The data folder's disk, without its reserve. */
  disk: DiskSpace;
  config: ObjectStoreConfig;
  log: Logger;
  random: (size: number) => Buffer;
  clock: Clock;
}

/** When bytes that become unreferenced now may be removed. */
export function trashDueAt(deps: StoreDeps): number {
  return deps.clock.nowMs() + deps.config.trash_grace_seconds * 1_000;
}
