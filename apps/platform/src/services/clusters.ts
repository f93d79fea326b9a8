import { randomBytes } from 'node:crypto';
import { createClustersModule } from '@svc/clusters';
import { systemClock } from '@svc/runtime';
import { DEPLOY_FOLDER } from '../project-folders.ts';
import { replicaIdOf } from '../replica-id.ts';
import { VERSION } from '../version.ts';
import type { ServiceContext } from './service-context.ts';
import { countOf, type ClustersService } from './service.ts';

export async function createClustersService(context: ServiceContext): Promise<ClustersService> {
  const clusters = await createClustersModule({
    kysely: context.databases.main.kysely,
    config: context.config.clusters,
    log: context.log,
    metrics: context.metrics,
    clock: systemClock,
    randomBytes,
    replicaId: replicaIdOf(context.folder.path),
    version: VERSION,
    deployFolder: DEPLOY_FOLDER,
    agentImagesFolder: context.folder.agentImagesFolder,
    access: context.access,
    audit: context.audit,
    rights: context.rights,
    clientOf: context.clientOf,
    quotaLimits: context.quotaLimits,
    endpoints: {
      publicUrl: () => context.endpoints.url,
      secureUrl: () => context.endpoints.secureUrl,
      certificateAuthority: () => context.endpoints.certificateAuthority,
    },
  });
  return {
    name: 'clusters',
    registerRoutes: (app) => clusters.registerRoutes(app),
    registerUpgrades: (router) => clusters.registerUpgrades(router),
    tunnels: clusters.tunnels,
    start: (signal) => clusters.start(signal),
    close: () => clusters.close(),
    readiness: () => clusters.readiness(),
    state: async (workspaceUuid) => ({ enabled: true, reason: null, ...(await clusters.status(workspaceUuid)) }),
    quotaUsage: (workspaceUuids) => clusters.quotaUsage(workspaceUuids),
    holdings: async (workspaceUuid) => countOf((await clusters.status(workspaceUuid)).total, 'cluster', 'clusters'),
  };
}
