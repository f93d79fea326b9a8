import type { WorkspaceDirectory } from '@svc/accounts';
import type { Access, AuditLog, HeldRights, ClientOfRequest, WorkspaceTraffic, HttpApp } from '@svc/http';
import type { QuotaLimits } from '@svc/quotas';
import type { DiskSpace } from '@svc/runtime';
import type { Logger, Metrics } from '@svc/telemetry';
import type { DataFolder } from '../data-folder.ts';
import type { Databases } from '../databases.ts';
import type { Endpoints } from '../endpoints.ts';
import type { PlatformKeys } from '../keys.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { PlatformConfig } from '../config.ts';

export interface ServiceContext extends ComposeOptions {
  folder: DataFolder;
  databases: Databases;
  keys: PlatformKeys;
  metrics: Metrics;
  access: Access;
  audit: AuditLog;
  rights: HeldRights;
  clientOf: ClientOfRequest;
  directory: WorkspaceDirectory;
  quotaLimits: QuotaLimits;
  workspaceTraffic: WorkspaceTraffic;
  /** The data folder's disk, without its reserve. */
  disk: DiskSpace;
  endpoints: Endpoints;
  lifecycle: Lifecycle;
}

export interface ComposeOptions {
  config: PlatformConfig;
  log: Logger;
  /** Called with the app before its routes are registered. */
  prepareApp?: (app: HttpApp) => void;
}
