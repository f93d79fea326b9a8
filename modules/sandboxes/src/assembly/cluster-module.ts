import type { HttpApp } from '@svc/http';
import { backgroundClock, systemRandom } from '@svc/runtime';
import { EventWorker, type Database, type DatabaseEvents } from '@svc/sql';
import { createTunnelConnector } from '../adapters/drivers/kubernetes/tunnel-connector.ts';
import type { PlatformRegistry } from '../adapters/images/platform-registry.ts';
import type { Boots } from '../domain/boots.ts';
import { ClusterChoice } from '../domain/clusters/choose-cluster.ts';
import { ClusterDrivers } from '../domain/clusters/cluster-drivers.ts';
import { ClusterKeeper } from '../domain/clusters/cluster-keeper.ts';
import { ClusterRestorer } from '../domain/clusters/cluster-restorer.ts';
import { ClusterRights, RIGHT_REVOKED } from '../domain/clusters/cluster-rights.ts';
import type { SandboxContext } from '../domain/context.ts';
import type { SandboxDriver } from '../domain/driver.ts';
import type { ImageCatalog } from '../domain/images/catalog.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { Supervisor } from '../domain/supervisor.ts';
import { registerClusterRoutes } from '../routes/cluster-routes.ts';
import { CLUSTER_START_CHANNEL } from '../store/channels.ts';
import { createClusterReports } from '../store/cluster-reports.ts';
import { createSandboxMoves } from '../store/sandbox-moves.ts';
import type { SandboxTables } from '../store/tables.ts';
import type { SandboxesDependencies } from './dependencies.ts';

interface Lifecycle {
  readonly service: SandboxService;
  readonly boots: Boots;
}

/** Sandboxes in connected clusters. Without clusters, nothing of it does anything. */
export interface ClusterPart {
  readonly drivers: ClusterDrivers;
  readonly choice: ClusterChoice;
  registerRoutes(app: HttpApp): void;
  /** Follows the tunnels of this node. Works also if the configured driver is off. */
  start(events: DatabaseEvents, context: SandboxContext, supervisor: Supervisor, lifecycle: Lifecycle): void;
  close(): Promise<void>;
}

export function createClusterPart(
  deps: SandboxesDependencies,
  database: Database<SandboxTables>,
  catalog: ImageCatalog,
  driver: SandboxDriver,
  registry: PlatformRegistry,
): ClusterPart {
  const { clusters = null, access, log } = deps;
  const reports = createClusterReports(database.kysely);
  const drivers = new ClusterDrivers(driver, clusters);
  const choice = new ClusterChoice({ access, clusters, reports, keepsSnapshots: (deps.archives ?? null) !== null });
  let running: { readonly keeper: ClusterKeeper; readonly worker: EventWorker } | null = null;
  return {
    drivers,
    choice,
    registerRoutes: (app) => registerClusterRoutes(app, { choice }),
    start(events, context, supervisor, { service, boots }) {
      if (clusters === null) return;
      const { node } = context;
      const clock = deps.clock ?? backgroundClock;
      const { installationId } = deps;
      const random = systemRandom;
      const connector =
        deps.clusterConnector ??
        createTunnelConnector({ clusters, installationId, node, catalog, registry, clock, random, log });
      const stop: ConstructorParameters<typeof ClusterRights>[0]['stop'] = ({ workspaceUuid, id }) =>
        service.stop(workspaceUuid, id, RIGHT_REVOKED);
      const rights = new ClusterRights({ access, rights: deps.rights, drivers, clock, stop, log });
      const moves = createSandboxMoves(database, { clock });
      const restorer = new ClusterRestorer({ context, moves, service, boots });
      const parts = { service, boots, supervisor, rights, restorer };
      const keeper = new ClusterKeeper({ context, clusters, connector, reports, ...parts });
      const worker = new EventWorker({
        events,
        channel: CLUSTER_START_CHANNEL,
        work: async (id) => {
          const [target, sandboxId = ''] = id.split('/');
          if (target === node) await keeper.startRequested(sandboxId);
        },
        workOnAll: () => Promise.resolve(), // the sweep finds what was missed
        onError: (err) => log.error({ err }, 'a sandbox that another node recorded could not be started'),
      });
      running = { keeper, worker };
      keeper.start();
    },
    async close() {
      await running?.worker.close();
      await running?.keeper.close();
    },
  };
}
