import {
  describeHoldings,
  ImageSender,
  renderNestedError,
  useErrorRenderer,
  type HttpApp,
  type ServiceModule,
  type UpgradeRouter,
} from '@svc/http';
import {
  createCommandServices,
  createFoundation,
  createKubernetesApi,
  createMaintenance,
  createMessageHandlers,
  createRegistry,
  createRouteContext,
  LEASE_MS,
  type ClustersModuleDependencies,
  type Foundation,
} from './assembly/assembly.ts';
import { sumUsage, zeroUsage } from '@svc/quotas';
import { createConnectRoute } from './routes/channel/connect-route.ts';
import type { SessionHandlers } from './routes/channel/agent-session.ts';
import { AgentDelivery } from './adapters/delivery/agent-delivery.ts';
import { registerDeliveryRoutes } from './routes/delivery/delivery-routes.ts';
import { registerRegistryRoutes } from './routes/delivery/registry-routes.ts';
import { newId } from './domain/identifiers.ts';
import { ReportQueue } from './domain/report-queue.ts';
import { registerClusterRoutes } from './routes/cluster-routes.ts';
import { registerCommandRoutes } from './routes/command-routes.ts';
import { registerDeploymentRoutes } from './routes/deployment-routes.ts';
import { registerEventRoutes } from './routes/event-routes.ts';
import { registerLogRoutes } from './routes/log-routes.ts';
import { registerKubernetesRoutes, type KubernetesRouteOptions } from './routes/kubernetes/kubernetes-routes.ts';
import { ShellRoute } from './routes/kubernetes/shell-route.ts';
import { SandboxTunnels } from './adapters/tunnel/sandbox-tunnels.ts';
import { clusterQuotas } from './quotas.ts';
import type { ClustersState } from './state.ts';
import { usageByWorkspace } from './store/quota-usage.ts';
import { createOwnerFinders } from './assembly/owners.ts';
import { ReplicaEvents } from './assembly/replica-events.ts';
import { createTunnelServices } from './assembly/tunnel.ts';
import { registerLinkRoutes, type LinkRouteOptions } from './routes/tunnel/link-routes.ts';

export interface ClustersModule extends ServiceModule<ClustersState> {
  /** How sandboxes reach clusters. */
  readonly sandboxTunnels: SandboxTunnels;
  /** Deletes a workspace's clusters with their history and closes their connections. */
  removeWorkspace(workspaceUuid: string): Promise<void>;
}

/** Assembles the platform side of clusters. Opens nothing until an app and a router are given. */
export async function createClustersModule(dependencies: ClustersModuleDependencies): Promise<ClustersModule> {
  const { config, clock, replicaId } = dependencies;
  const foundation = createFoundation(dependencies);
  const { stores, connections, tunnels, onError } = foundation;
  const services = createCommandServices(foundation);
  const reports = new ReportQueue(stores.telemetry);
  const handlers = createMessageHandlers(foundation, services, reports);
  const maintenance = createMaintenance(foundation, services);
  const { changes, agentAccess } = foundation;
  const { dispatcher } = services;
  const replicaEvents = new ReplicaEvents({ events: dependencies.events, changes, dispatcher, agentAccess, onError });
  const registry = createRegistry(foundation);
  const stopping = new AbortController();
  const { agentImagesFolder: imagesFolder, endpoints, log } = dependencies;
  const { publicUrl } = endpoints;
  const delivery = new AgentDelivery({ install: config.install, imagesFolder, publicUrl, log });
  const context = createRouteContext(foundation, services, registry, delivery, stopping.signal);
  const { clusters, tunnelStore: store } = stores;
  const leaseMs = LEASE_MS;
  const tunnel = createTunnelServices({ dependencies, clusters, store, tunnels, agentAccess, leaseMs, onError });
  const { randomBytes, access, audit } = dependencies;
  const api = createKubernetesApi(foundation);
  const shells = new ShellRoute({ access, audit, clusters, api, clock, publicUrl });
  const links: LinkRouteOptions = { context, store, randomBytes, endpoints, domain: config.tunnel.domain };

  const drain = async (): Promise<void> => {
    stopping.abort();
    await shells.drain();
    const graceMs = config.drain_seconds * 1000;
    await Promise.all([tunnels.drain(graceMs), connections.drain(connections.count === 0 ? 0 : graceMs)]);
  };
  let draining: Promise<void> | undefined;
  const drainOnce = (): Promise<void> => (draining ??= drain());
  const close = async (): Promise<void> => {
    await drainOnce();
    await replicaEvents.close();
    await maintenance.stop(); // leases had to be renewed until now
    await services.dispatcher.idle();
    await reports.idle();
    await services.inspector.close();
  };
  const count = (workspaceUuid: string) => clusters.counts(workspaceUuid, clock.now().toISOString());
  let closing: Promise<void> | undefined;
  const closeOnce = (): Promise<void> => (closing ??= close());

  return {
    sandboxTunnels: new SandboxTunnels({ clusters, store, tunnels, clock }),
    registerRoutes: async (app) => {
      await app.register(async (part) => {
        registerAll(part, { context, api }, links);
        await registerDelivery(part, delivery, dependencies.deployFolder);
      });
    },
    registerUpgrades: (router) => {
      tunnel.registerUpgrades(router);
      router.add(shells);
      addConnectRoute(router, foundation, handlers);
    },
    handleHost: (request, response) => tunnel.front.handle(request, response),
    allowsSlowBody: (request) => tunnel.front.owns(request),
    owners: createOwnerFinders(foundation),
    start: async (signal) => {
      await store.forget(replicaId);
      await stores.connectionStore.forget(replicaId, clock.now().toISOString());
      maintenance.start();
      replicaEvents.start();
      const stop = (): void => void closeOnce().catch((error: unknown) => onError(error, {}));
      signal.addEventListener('abort', stop, { once: true });
    },
    drain: drainOnce,
    close: closeOnce,
    readiness: () => (connections.draining ? 'shutting_down' : 'ok'),
    state: async (workspaceUuid) => ({ enabled: true, reason: null, ...(await count(workspaceUuid)) }),
    holdings: async (workspaceUuid) => describeHoldings((await count(workspaceUuid)).total, 'cluster', 'clusters'),
    quotaUsage: async (uuids) =>
      sumUsage([zeroUsage(clusterQuotas), ...(await usageByWorkspace(dependencies.kysely, uuids)).values()]),
    removeWorkspace: (workspaceUuid) => registry.removeWorkspace(workspaceUuid),
  };
}

function registerAll(app: HttpApp, kubernetes: KubernetesRouteOptions, links: LinkRouteOptions): void {
  const { context } = kubernetes;
  useErrorRenderer(app, renderNestedError);
  registerClusterRoutes(app, context);
  registerDeploymentRoutes(app, context);
  registerCommandRoutes(app, context);
  registerEventRoutes(app, context);
  registerLogRoutes(app, context);
  registerLinkRoutes(app, links);
  registerKubernetesRoutes(app, kubernetes);
}

async function registerDelivery(app: HttpApp, delivery: AgentDelivery, folder: string): Promise<void> {
  const sender = new ImageSender();
  registerDeliveryRoutes(app, { folder, delivery, sender });
  // Separate, because registry clients expect their own error format.
  await app.register(async (part) => registerRegistryRoutes(part, { images: delivery.images, sender }));
}

function addConnectRoute(
  router: UpgradeRouter,
  { dependencies, stores, connections, agentAccess }: Foundation,
  handlers: SessionHandlers,
): void {
  const { clock, config, log, randomBytes, replicaId } = dependencies;
  router.add(
    createConnectRoute({
      clusters: stores.clusters,
      store: stores.connectionStore,
      connections,
      handlers,
      clock,
      replicaId,
      leaseMs: LEASE_MS,
      connectsPerMinute: config.connects_per_minute,
      newMessageId: () => newId('msg', randomBytes),
      onConnected: (cluster, epoch) => log.info({ cluster, epoch }, 'clusters: an agent connected'),
      recheck: (cluster) => agentAccess.recheck(cluster),
    }),
  );
}
