import type { KeyObject } from 'node:crypto';
import type { AuditLog, HeldRights } from '@svc/access';
import type { ClientOfRequest } from '@svc/http';
import type { QuotaLimits, WorkspaceTraffic } from '@svc/quotas';
import type { Clock, DiskSpace } from '@svc/runtime';
import type { Logger, Metrics } from '@svc/telemetry';
import type { ObjectStoreConfig } from '../config.ts';
import type { BlobStore } from '../domain/ports/blob-store.ts';
import type { CertificateAuthority, DomainResolver } from '../domain/ports/custom-domains.ts';
import type { MakerRights } from '../domain/ports/maker-rights.ts';
import type { MetadataStore } from '../domain/ports/metadata-store.ts';
import type { WebhookSender } from '@svc/webhooks';
import type { OwnerDirectory } from '../domain/ports/owner-directory.ts';
import type { KeyRing } from '../domain/secrets/key-ring.ts';

export interface ObjectStoreDependencies {
  /** The module closes both. */
  metadata: MetadataStore;
  blobs: BlobStore;
  /** Resolves the users and workspaces that access can be granted to. */
  owners: OwnerDirectory;
  /** What the creators of access keys are currently allowed to do. */
  rights: MakerRights;
  audit: AuditLog;
  /** Resolves the client of an S3 request. */
  clientOf: ClientOfRequest;
  /** Ends S3 requests whose key or creator has lost the required right. */
  heldRights: HeldRights;
  /** From `loadInstallationKey`. */
  installationKey: KeyObject;
  /** From `createKeyRing`. */
  keyRing: KeyRing;
  /** Resolves the CNAMEs of custom domains. */
  domainResolver: DomainResolver;
  /** Stable across restarts and unique among the processes on one database. */
  replicaId: string;
  /** Whether other replicas use the metadata as well. Defaults to false. */
  sharesDatabase?: boolean;
  /** Delivers notifications to their receivers. */
  webhooks: WebhookSender;
  /** Null if custom domains get no certificates here because TLS ends before the platform. */
  certificateAuthority: CertificateAuthority | null;
  /** The limits of each workspace and its owner. */
  quotaLimits: QuotaLimits;
  /** Request limits of workspaces. */
  workspaceTraffic: WorkspaceTraffic;
  /** The data folder's disk, minus its reserve. */
  disk: DiskSpace;
  config: ObjectStoreConfig;
  log: Logger;
  metrics: Metrics;
  /** Shared by all replicas, because leases and grace periods are compared between them. */
  clock: Clock;
  random: (size: number) => Buffer;
  /** Base URL of the S3 plane in responses; known once its listener is up. */
  s3Endpoint: () => string;
  /** Base URL of the management API in responses. Defaults to the URL each caller used. */
  baseUrl?: () => string;
}
