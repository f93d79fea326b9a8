import type { Access, AuditLog, ClientOfRequest, HeldRights } from '@svc/http';
import type { QuotaLimits } from '@svc/quotas';
import type { DiskSpace } from '@svc/runtime';
import type { Database } from '@svc/sql';
import type { Logger, Metrics } from '@svc/telemetry';
import type { SandboxesConfig } from '../config.ts';
import type { Effects } from '../domain/ports.ts';
import type { SandboxDriver } from '../domain/driver.ts';

/** What the platform gives the module. */
export interface SandboxesDependencies {
  /** The platform's database, migrated. */
  readonly database: Database<unknown>;
  readonly access: Access;
  readonly audit: AuditLog;
  /** Ends what is open to previews with the right to it. */
  readonly rights: HeldRights;
  /** Who is behind a request to a preview. */
  readonly clientOf: ClientOfRequest;
  /** The limits of each workspace and its owner. */
  readonly quotaLimits: QuotaLimits;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly config: SandboxesConfig;
  /** The platform's data folder, absolute; the module keeps to `sandboxes/` in it. */
  readonly dataFolder: string;
  /** Folder of the helper's binaries: `native/sandbox-agent/bin` of the project. */
  readonly agentFolder: string;
  /** Names this machine among replicas that share a database. */
  readonly node?: string;
  readonly effects?: Partial<Effects>;
  /** Where users reach the platform, known once its listeners are open. */
  readonly publicUrl: () => string;
  /** The disk of the data folder, without its reserve; unlimited by default. */
  readonly disk?: DiskSpace;
  /** Another driver than the configuration's; for tests. */
  readonly driver?: SandboxDriver;
}
