import type { KeyObject } from 'node:crypto';
import type { Access, AuditLog, HeldRights } from '@svc/access';
import type { HelperBinaries } from '@svc/helper-binary';
import type { ClientOfRequest, Forwarding } from '@svc/http';
import type { KeyWrapper } from '@svc/keys';
import type { QuotaLimits, WorkspaceTraffic } from '@svc/quotas';
import type { Clock, DiskSpace } from '@svc/runtime';
import type { Database } from '@svc/sql';
import type { Logger, Metrics } from '@svc/telemetry';
import type { WebhookSender } from '@svc/webhooks';
import type { TunnelledClusters } from '../adapters/drivers/kubernetes/tunnel-connector.ts';
import type { SandboxesConfig } from '../config.ts';
import type { ApiKeys } from '../domain/access/api-keys.ts';
import type { ArchiveBlobs } from '../domain/archives/archive.ts';
import type { ClusterConnector } from '../domain/clusters/sandbox-cluster.ts';
import type { SandboxNodes } from '../domain/ports.ts';
import type { ServedBuckets } from '../routes/mounts/mount-server.ts';
import type { SandboxDriver } from '../domain/driver.ts';

/** Dependencies that the platform passes to the module. */
export interface SandboxesDependencies {
  /** The platform's database, migrated. */
  readonly database: Database<unknown>;
  readonly access: Access;
  readonly audit: AuditLog;
  /** The keys that E2B clients manage. */
  readonly apiKeys: ApiKeys;
  /** Closes open previews when the right to them is lost. */
  readonly rights: HeldRights;
  /** Resolves the client behind a preview request. */
  readonly clientOf: ClientOfRequest;
  /** Passes preview requests to the replica of the sandbox. Defaults to none. */
  readonly forwarding?: Forwarding;
  /** Quotas of each workspace and of its owner. */
  readonly quotaLimits: QuotaLimits;
  /** Says whether several workspaces are active. Defaults to none. */
  readonly traffic?: Pick<WorkspaceTraffic, 'isContended'>;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly config: SandboxesConfig;
  /** The platform's data folder, absolute. The module only writes to `sandboxes/` in it. */
  readonly dataFolder: string;
  /** Provides the program that runs in each sandbox. */
  readonly helperBinaries: HelperBinaries;
  /** Identifies this machine among replicas that share a database. */
  readonly node: string;
  readonly nodes: SandboxNodes;
  /** How many replicas share limits of requests now. Defaults to one. */
  readonly replicas?: () => number;
  /** Identifies all replicas of this database together; with the node, it owns what the driver creates elsewhere. */
  readonly installationId: string;
  /** Loads the key that signs preview links, the same on every replica. */
  readonly previewKey: () => Promise<KeyObject>;
  /** Loads the private host key of SSH, the same on every replica; the first one stores what `create` returns. */
  readonly sshHostKey: (create: () => string) => Promise<string>;
  /** Sends webhooks, only to addresses that the operator allows. */
  readonly webhooks: WebhookSender;
  /** Seals secrets, and keys of sandboxes' certificate authorities. */
  readonly keyWrapper: KeyWrapper;
  /** Defaults to the clock of the process, whose timers do not keep it alive. */
  readonly clock?: Clock;
  /** The platform's public URL, known once its listeners are open. */
  readonly publicUrl: () => string;
  /** URL for clients that require TLS. */
  readonly secureUrl: () => string;
  /** Free space on the data folder's disk, minus the reserve. Defaults to unlimited. */
  readonly disk?: DiskSpace;
  /**
   * Storage for copies of snapshots that no tenant reaches; the module closes it. Absent or null: sandboxes are created from
   * a snapshot only on its own node, and those of clusters have no snapshots.
   */
  readonly archives?: ArchiveBlobs | null;
  /** False: only this node reaches `archives`, and there is no other. True by default. */
  readonly archivesAreShared?: boolean;
  /** Whether `archives` takes room on the disk of this machine. False by default. */
  readonly archivesAreOnDisk?: boolean;
  /** The buckets that sandboxes can mount. Absent or null: the object store is disabled. */
  readonly buckets?: ServedBuckets | null;
  /** Clusters whose agents dial out to this installation. Absent or null: clusters are disabled. */
  readonly clusters?: TunnelledClusters | null;
  /** Overrides how clusters are connected, for tests. */
  readonly clusterConnector?: ClusterConnector;
  /** Overrides the configured driver, for tests. */
  readonly driver?: SandboxDriver;
}
