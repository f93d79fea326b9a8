import type { WorkspaceDirectory } from '@svc/accounts';
import type { Access, AuditLog, ClientOfRequest, HeldRights, WorkspaceTraffic } from '@svc/http';
import type { QuotaLimits } from '@svc/quotas';
import type { DiskSpace } from '@svc/runtime';
import type { Metrics } from '@svc/telemetry';
import type { ComposeOptions } from '../compose.ts';
import type { DataFolder } from '../data-folder.ts';
import type { Databases } from '../databases.ts';
import type { Endpoints } from '../endpoints.ts';
import type { PlatformKeys } from '../keys.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { ServiceName } from '../service-names.ts';
import { absentService, absentStates } from './absent.ts';
import { createClustersService } from './clusters.ts';
import { createObjectStoreService, disabledObjectStore } from './object-store.ts';
import { createSandboxesService } from './sandboxes.ts';
import type { Services } from './service.ts';

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

/** Creates the configured services; the others are absent ones that give the reason. */
export async function createServices(context: ServiceContext): Promise<Services> {
  const wants = (name: ServiceName): boolean => context.config.services.includes(name);
  const off = 'switched off in the configuration (services)';
  return {
    clusters: wants('clusters')
      ? await createClustersService(context)
      : { ...absentService('clusters', absentStates.clusters, off), tunnels: null },
    objectStore: wants('object-store') ? await createObjectStoreService(context) : disabledObjectStore(off),
    sandboxes: wants('sandboxes')
      ? await createSandboxesService(context)
      : { ...absentService('sandboxes', absentStates.sandboxes, off), handlePreview: () => false },
  };
}
