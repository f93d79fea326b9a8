import { randomBytes } from 'node:crypto';
import { createClustersModule, systemClock } from '@svc/clusters';
import type { ServiceStates } from '../http/status-routes.ts';
import { replicaIdOf } from '../replica-id.ts';
import { VERSION } from '../version.ts';
import type { ServiceContext } from './create-services.ts';
import { countOf, type Service } from './service.ts';

export async function createClustersService(context: ServiceContext): Promise<Service<ServiceStates['clusters']>> {
  const clusters = await createClustersModule({
    kysely: context.databases.main.kysely,
    config: context.config.clusters,
    log: context.log,
    metrics: context.metrics,
    clock: systemClock(),
    randomBytes,
    replicaId: replicaIdOf(context.folder.path),
    version: VERSION,
    publicUrl: () => context.endpoints.url,
  });
  return {
    name: 'clusters',
    registerRoutes: (app) => clusters.registerRoutes(app),
    registerUpgrades: (router) => clusters.registerUpgrades(router),
    start: (signal) => clusters.start(signal),
    close: () => clusters.close(),
    readiness: () => clusters.readiness(),
    state: async (workspaceUuid) => ({ enabled: true, reason: null, ...(await clusters.status(workspaceUuid)) }),
    holdings: async (workspaceUuid) => countOf((await clusters.status(workspaceUuid)).total, 'cluster', 'clusters'),
  };
}
