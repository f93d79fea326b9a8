import { createHeldRights, observeHeldRights, type HeldRights } from '@svc/access';
import type { AccountsModule } from '@svc/accounts';
import { createAccountsModule } from '@svc/accounts';
import type { HelperBinaries } from '@svc/helper-binary';
import {
  createClientOfRequest,
  createHttpApp,
  registerHealthRoutes,
  registerMetricsRoute,
  registerRegistryCheck,
  renderE2bError,
  renderEnvelopeError,
  renderNestedError,
  renderRegistryError,
  UpgradeRouter,
  type ClientOfRequest,
  type Forwarding,
  type HttpApp,
  type HttpAppOptions,
  type HealthOptions,
  type OwnerFinders,
} from '@svc/http';
import { createWorkspaceTraffic, type Usage, type WorkspaceTraffic } from '@svc/quotas';
import { createSealedSecrets, type ReplicaRegistry, type SealedSecrets } from '@svc/replicas';
import { createNodeAdministration } from '@svc/sandboxes';
import { createMetrics, type Logger, type Metrics } from '@svc/telemetry';
import type { PlatformConfig } from './config.ts';
import { openDataFolder, type DataFolder } from './data-folder.ts';
import { observeEvents, openDatabases, type Databases } from './databases.ts';
import { openDiskReserve } from './disk-reserve.ts';
import { Endpoints } from './endpoints.ts';
import { openForwarding, type Internal } from './forwarding.ts';
import { registerNodeRoutes } from './http/node-routes.ts';
import { readServiceStates, registerStatusRoutes } from './http/status-routes.ts';
import { Lifecycle } from './lifecycle.ts';
import { archivesAreShared, createServiceModules, type ServiceModules } from './modules.ts';
import { createQuotaSource, thisMachine } from './quotas.ts';
import { joinInstallation } from './replica.ts';
import { Shutdown, shutdownTimes } from './shutdown.ts';
import { VERSION } from './version.ts';

export interface ComposeOptions {
  config: PlatformConfig;
  log: Logger;
  /** Provides the program that runs in each sandbox. */
  helperBinaries: HelperBinaries;
  /** Called with the app before its routes are registered. */
  prepareApp?: (app: HttpApp) => void;
  /**
   * Called if another process has taken over this replica's id, after the reason was logged. The process must end at
   * once: closing would release what the other one holds by now.
   */
  onTaken?: () => void;
}

/** Every object of the platform, created and wired, without open listeners or running work. */
export interface Composition {
  folder: DataFolder;
  databases: Databases;
  replica: ReplicaRegistry;
  /** Shared by all replicas. */
  secrets: SealedSecrets;
  metrics: Metrics;
  accounts: AccountsModule;
  modules: ServiceModules;
  app: HttpApp;
  upgrades: UpgradeRouter;
  clientOf: ClientOfRequest;
  endpoints: Endpoints;
  internal: Internal;
  shutdown: Shutdown;
  /** Closes everything, newest first. */
  lifecycle: Lifecycle;
  startedAtMs: number;
}

export async function compose(options: ComposeOptions): Promise<Composition> {
  const lifecycle = new Lifecycle(options.log);
  try {
    return await composeInto(options, lifecycle);
  } catch (error) {
    await lifecycle.close();
    throw error;
  }
}

/** Parts that accounts depend on but that are created after it. */
interface Holders {
  modules?: ServiceModules;
  traffic?: WorkspaceTraffic;
}

async function composeInto(options: ComposeOptions, lifecycle: Lifecycle): Promise<Composition> {
  const { config, log } = options;
  const startedAtMs = performance.now();
  const folder = openDataFolder(config.data);
  lifecycle.own('data folder', () => folder.release());
  const databases = await openDatabases(config, folder, log);
  lifecycle.own('database', () => databases.main.close());
  const { onTaken = () => undefined } = options;
  const membership = await joinInstallation({ config, database: databases.main, folder, log, lifecycle, onTaken });
  const { replica, keys } = membership;
  const secrets = createSealedSecrets(databases.main, keys.local);
  const metrics = createMetrics({ processMetricsPrefix: 'svc_' });
  observeEvents(metrics, databases);
  const endpoints = new Endpoints(config);

  const holders: Holders = {};
  const accounts = await createAccountsModule({
    database: databases.main,
    config: config.accounts,
    keyWrapper: keys.local,
    dataFolder: folder.path,
    log,
    metrics,
    publicUrl: () => endpoints.url,
    quotas: createQuotaSource(config, thisMachine(folder.path), (uuids) => usageIn(holders, uuids)),
    workspaceHoldings: async (workspaceUuid) => describeAllHoldings(holders.modules, workspaceUuid),
  });
  lifecycle.own('accounts', () => accounts.close());
  const { access, audit, quotaLimits } = accounts;
  const base = { config, log, metrics, lifecycle };
  const rights = openHeldRights(base);
  const finders = (): OwnerFinders => ownersIn(holders.modules);
  const { events } = databases.main;
  const { forwarding, internal } = await openForwarding({ ...base, replica, secrets, events, finders, quotaLimits });
  const shared = { log, metrics, access, audit, rights, forwarding };
  const traffic = createWorkspaceTraffic({ limits: quotaLimits, metrics, nowMs: Date.now });
  holders.traffic = traffic;
  const replicas = (): number => replica.liveCount;
  const { app, clientOf, upgrades } = await openEdge(options, { ...shared, traffic, replicas }, lifecycle);

  const shutdown = new Shutdown(log, shutdownTimes(config));
  const kept = { folder, databases, replica, secrets, endpoints, internal, lifecycle, shutdown };
  const modules = await createServiceModules({
    config,
    ...shared,
    ...kept,
    ...membership,
    clientOf,
    accounts,
    quotaLimits,
    workspaceTraffic: traffic,
    helperBinaries: options.helperBinaries,
    disk: await openDiskReserve({ config, folder: folder.path, log, metrics }),
  });
  holders.modules = modules;
  const composition = { ...kept, metrics, accounts, modules, app, upgrades, clientOf, startedAtMs };
  await registerAll(config, composition);
  return composition;
}

type EdgeDeps = Pick<HttpAppOptions, 'log' | 'metrics' | 'access' | 'audit' | 'traffic' | 'replicas'> & {
  rights: HeldRights;
  forwarding: Forwarding;
};

/** What every request meets first: the app, the router of upgrades, and who its client is. */
async function openEdge({ config, prepareApp }: ComposeOptions, deps: EdgeDeps, lifecycle: Lifecycle) {
  const { log, rights, forwarding } = deps;
  const { trusted_proxies: trustedProxies } = config;
  const app = await createHttpApp({ ...deps, version: VERSION, trustedProxies, errorFamilies });
  lifecycle.own('routes', () => app.close());
  prepareApp?.(app);
  const clientOf = createClientOfRequest(trustedProxies, (request) => forwarding.hopOf(request));
  return { app, clientOf, upgrades: new UpgradeRouter(log, rights, clientOf, forwarding) };
}

function openHeldRights({
  log,
  metrics,
  lifecycle,
}: {
  log: Logger;
  metrics: Metrics;
  lifecycle: Lifecycle;
}): HeldRights {
  const rights = createHeldRights(log);
  lifecycle.own('held rights', async () => rights.stop());
  observeHeldRights(metrics, rights);
  return rights;
}

/** Prefixes whose contract requires an error body other than the flat one of accounts and sandboxes. */
const errorFamilies = [
  { prefix: '/v1', render: renderNestedError },
  { prefix: '/v2', render: renderRegistryError },
  { prefix: '/e2b', render: renderE2bError },
  { prefix: '/api/v1/workspace', render: renderEnvelopeError },
  { prefix: '/api/v1/public', render: renderEnvelopeError },
] as const;

async function registerAll(config: PlatformConfig, composition: Composition): Promise<void> {
  const { app, upgrades, accounts, modules, metrics, startedAtMs, replica, databases } = composition;
  for (const module of [accounts, ...Object.values(modules)]) {
    await module.registerRoutes(app);
    module.registerUpgrades(upgrades);
  }
  if (config.services.includes('clusters') || config.services.includes('sandboxes')) registerRegistryCheck(app);
  registerHealthRoutes(app, { ...readinessChecks(composition), now: () => new Date() });
  registerMetricsRoute(app, { metrics, access: accounts.access, token: config.metrics.token });
  registerStatusRoutes(app, {
    version: VERSION,
    uptimeSeconds: () => Math.floor((performance.now() - startedAtMs) / 1000),
    services: (workspaceUuid) => readServiceStates(modules, workspaceUuid),
  });
  registerNodeRoutes(app, {
    replicas: replica,
    nodes: createNodeAdministration(databases.main, {
      // Docker has no files that another node could read.
      hasArchives: archivesAreShared(databases, config) && config.sandboxes.driver !== 'docker',
    }),
    workLeases: () => modules.objectStore.workLeases(),
    nowMs: () => replica.nowMs(),
    authorityExpiresAt: () => composition.internal?.identity.expiresAt ?? null,
  });
  await app.ready();
}

/** Until the services have started, a workspace counts as non-empty, so that nothing is deleted. */
async function describeAllHoldings(modules: ServiceModules | undefined, workspaceUuid: string): Promise<string[]> {
  if (modules === undefined) return ['services that are still starting'];
  const all = await Promise.all(Object.values(modules).map((module) => module.holdings(workspaceUuid)));
  return all.flat();
}

function ownersIn(modules: ServiceModules | undefined): OwnerFinders {
  return Object.assign({}, ...Object.values(modules ?? {}).map(({ owners }) => owners)) as OwnerFinders; // merged
}

/** Total usage in these workspaces; each quota is counted by one module. */
async function usageIn({ modules, traffic }: Holders, workspaceUuids: readonly string[]): Promise<Usage> {
  const all = await Promise.all(Object.values(modules ?? {}).map((module) => module.quotaUsage(workspaceUuids)));
  return Object.assign({}, traffic?.usage(workspaceUuids), ...all);
}

/**
 * What every replica shares does not make this one unready: a proxy would drop all of them at once, and the service's
 * own answer, 503 with Retry-After, says more.
 */
function readinessChecks({ modules, databases, shutdown }: Composition): Pick<HealthOptions, 'checks' | 'shared'> {
  const { clusters, objectStore, sandboxes } = modules;
  const { main } = databases;
  const database = async (): Promise<string> => {
    await main.check();
    return 'ok';
  };
  const isShared = main.dialect === 'postgres';
  return {
    checks: {
      replica: () => (shutdown.isDraining ? 'draining' : 'ok'),
      clusters: clusters.readiness,
      object_store: objectStore.readiness,
      sandboxes: sandboxes.readiness,
      ...(isShared ? {} : { database }),
    },
    shared: { ...(isShared ? { database } : {}), ...objectStore.sharedReadiness },
  };
}
