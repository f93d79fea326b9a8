import { join } from 'node:path';
import { confirmAccess, type GrantedAccess } from '@svc/access';
import { describeHoldings, type ServiceModule } from '@svc/http';
import { sumUsage, unlimitedTraffic, zeroUsage } from '@svc/quotas';
import { backgroundClock, loadOnce, systemRandom, unlimitedDisk } from '@svc/runtime';
import type { Database } from '@svc/sql';
import type { Logger, Metrics } from '@svc/telemetry';
import { createContext } from './assembly/context-assembly.ts';
import type { SandboxesDependencies } from './assembly/dependencies.ts';
import { createArchives } from './assembly/archive-module.ts';
import { Boots } from './domain/boots.ts';
import { DiskGuard } from './domain/disk-guard.ts';
import { whyUnreachable } from './domain/images/platform-images.ts';
import { IsolationPolicy, sharesKernel } from './domain/isolation.ts';
import { SANDBOX } from './domain/holder.ts';
import type { SandboxNotice } from './domain/notice.ts';
import { reconcile } from './domain/reconcile.ts';
import { SandboxService } from './domain/sandbox-service.ts';
import { Sweeper } from './domain/sweeper.ts';
import { Tickets } from './domain/tickets.ts';
import { WarmClaims } from './domain/warm-claims.ts';
import { createClusterPart } from './assembly/cluster-module.ts';
import { createAccess, createConnections } from './assembly/connection-module.ts';
import { createDriver } from './assembly/driver-module.ts';
import { missingCapabilities } from './domain/driver.ts';
import { createEventPart } from './assembly/event-module.ts';
import { CommandService } from './domain/exec/command-service.ts';
import { ProcessService } from './domain/processes/process-service.ts';
import { FileService } from './domain/files/file-service.ts';
import { registerRoutes } from './assembly/register-routes.ts';
import { createImageStore } from './adapters/images/assembly.ts';
import { createCatalog } from './adapters/images/default-catalog.ts';
import { createMetricPart } from './assembly/metric-module.ts';
import { createContinuing, createNodePart } from './assembly/node-module.ts';
import { observePreparedStarts } from './assembly/prepared-start-metrics.ts';
import { createTemplatePart, observeTemplates } from './assembly/template-module.ts';
import { createSecretPart } from './assembly/secret-module.ts';
import { createRegistryPart } from './assembly/registry-module.ts';
import { createPlaces } from './assembly/places.ts';
import { createVolumePart } from './assembly/volume-module.ts';
import { createWebhookPart } from './assembly/webhook-module.ts';
import type { SandboxesConfig } from './config.ts';
import { sandboxQuotas } from './quotas.ts';
import { MountServer } from './routes/mounts/mount-server.ts';
import { MountService } from './domain/mounts/mount-service.ts';
import { IMAGE } from './routes/registry-routes.ts';
import { VOLUME } from './routes/volume-routes.ts';
import { describeMachine, type SandboxesState, type SshPart } from './state.ts';
import { NEW_SANDBOX, SourceNodes } from './domain/source-nodes.ts';
import { TEMPLATE_BUILD, TEMPLATE_BUILDER } from './domain/templates/build-nodes.ts';
import { ForkCopies } from './domain/snapshots/fork-copies.ts';
import { SnapshotService } from './domain/snapshots/snapshot-service.ts';
import { usageByWorkspace } from './store/quota-usage.ts';
import { createForkCopyRepository } from './store/fork-copy-repository.ts';
import { createNodeRepository } from './store/node-repository.ts';
import { createSandboxRepository } from './store/sandbox-repository.ts';
import { createSnapshotRepository } from './store/snapshot-repository.ts';
import type { SandboxTables } from './store/tables.ts';
import { createTerminalPlaces } from './store/terminal-places.ts';
import { createTicketRepository } from './store/ticket-repository.ts';
import { observeSsh } from './assembly/ssh-module.ts';
import { observeTerminals } from './assembly/terminal-module.ts';
import { observeWarmPool, createWarmPool } from './assembly/warm-pool-assembly.ts';

export interface SandboxesModule extends ServiceModule<SandboxesState>, SshPart {
  /** Detects what this machine supports, adopts running sandboxes, and supervises them until `close`. */
  start(signal: AbortSignal): Promise<void>;
  /** Releases all resources except the sandboxes, which keep running and are adopted at the next start. */
  close(): Promise<void>;
  /** Prepares the image now instead of on first use. */
  prepareImage(name: string, signal: AbortSignal): Promise<{ digest: string }>;
  /** Checks the image's sources for a newer version. Existing sandboxes keep theirs. */
  pullImage(name: string, signal: AbortSignal): Promise<{ digest: string; changed: boolean }>;
}

export async function createSandboxesModule(deps: SandboxesDependencies): Promise<SandboxesModule> {
  // Each request with a token needs the key, also one of a stranger.
  const services = await assemble({ ...deps, previewKey: loadOnce(deps.previewKey) });
  const { hub, e2b, previews, driver, images, isolation, pool, repository } = services;
  observe(deps.metrics, services);
  return {
    ssh: services.ssh,
    registerRoutes: (app) => registerRoutes(app, services),
    registerUpgrades(router) {
      previews.registerUpgrades(router);
      router.add(hub);
      router.add(services.sshRelays);
    },
    handleHost: (request, response) => !e2b.direct(request) && previews.handle(request, response),
    allowsSlowBody: () => false,
    owners: {
      [SANDBOX]: (id, workspaceUuid) => services.context.holder.findNode(id, workspaceUuid),
      [VOLUME]: (name, workspaceUuid) => services.volumes.findNode(name, workspaceUuid),
      [IMAGE]: services.registryPart.findNode,
      [NEW_SANDBOX]: (id, workspaceUuid) => services.sourceNodes.find(id, workspaceUuid),
      [TEMPLATE_BUILDER]: (workspaceUuid) => services.buildNodes.ofWorkspace(workspaceUuid),
      [TEMPLATE_BUILD]: (id, workspaceUuid) => services.buildNodes.ofBuild(id, workspaceUuid),
    },
    start: (signal) => start(services, deps.log, signal),
    drain: services.drain,
    close: () => close(services),
    // If sandboxes cannot run, the rest of the platform still serves; the overview gives the reason.
    readiness: () => 'ok',
    state: async (workspaceUuid) => ({
      ...describeMachine(driver.status(), isolation),
      running: await repository.ofWorkspace(workspaceUuid, 'running'),
      paused: await repository.ofWorkspace(workspaceUuid, 'paused'),
      total: await repository.ofWorkspace(workspaceUuid),
      limit: deps.config.max_per_caller,
      driver: deps.config.driver,
      missing_capabilities: missingCapabilities(driver),
      platform_images_reason: whyUnreachable(deps.secureUrl()),
      warm_pool: [...pool.figures()],
    }),
    holdings: async (workspaceUuid) => [
      ...describeHoldings(await repository.ofWorkspace(workspaceUuid), 'sandbox', 'sandboxes'),
      ...describeHoldings(await services.volumeRepository.count(workspaceUuid), 'volume', 'volumes'),
      ...describeHoldings(await services.secretRepository.count(workspaceUuid), 'secret', 'secrets'),
      ...describeHoldings(await services.templates.count(workspaceUuid), 'template', 'templates'),
      ...describeHoldings(await services.webhooks.count(workspaceUuid), 'webhook', 'webhooks'),
    ],
    quotaUsage: async (uuids) =>
      sumUsage([zeroUsage(sandboxQuotas), ...(await usageByWorkspace(services.kysely, uuids)).values()]),
    prepareImage: async (name, signal) => ({ digest: (await images.prepare(name, signal)).digest }),
    pullImage: (name, signal) => images.pull(name, signal),
  };
}

type Services = Awaited<ReturnType<typeof assemble>>;

/** Builds what the services depend on: records, events, images, the driver and the shared context. */
async function assembleBase(deps: SandboxesDependencies) {
  const clock = deps.clock ?? backgroundClock;
  const { config, log } = deps;
  const database = deps.database as Database<SandboxTables>; // the platform's database has every module's tables
  const catalog = createCatalog(config);
  const folder = join(deps.dataFolder, 'sandboxes');
  const { dataFolder, helperBinaries } = deps;
  const disk = deps.disk ?? unlimitedDisk;
  const nowMs = (): number => clock.nowMs();
  const images = createImageStore({ config, catalog, dataFolder, helperBinaries, nowMs, log, disk });
  const events = createEventPart(database.kysely, clock, log, config.events);
  const repository = createSandboxRepository(database.kysely, { clock });
  const refused = (id: string, host: string): void => events.refused(repository, id, host);
  const registryPart = createRegistryPart(deps, database.kysely, images, clock);
  const { registry } = registryPart;
  const { access, rights, buckets = null } = deps;
  const mountServer = new MountServer({ repository, access, rights, buckets, clock, log });
  const driver = deps.driver ?? (await createDriver(deps, folder, catalog, images, registry, refused, mountServer));
  const mounts = new MountService({ access, buckets, driver, repository, log });
  const { node, nodes, quotaLimits } = deps;
  const places = createPlaces(driver, quotaLimits, deps.traffic ?? unlimitedTraffic, deps.metrics);
  const random = systemRandom;
  const storage = createArchives(deps, database, driver, clock);
  const archives = deps.archivesAreShared === false ? null : storage;
  const clusterPart = createClusterPart(deps, database, catalog, driver, registry);
  const { drivers, choice: clusterChoice } = clusterPart;
  const shared = { repository, driver, drivers, clusterChoice, clock, random, quotaLimits, log };
  const given = { ...shared, node, nodes, disk, places, archives, storage };
  const { rules, ...secretPart } = createSecretPart(database.kysely, deps.keyWrapper, given);
  const { context, supervisor } = createContext({ ...given, rules });
  const parts = { ...secretPart, clusterPart, registryPart, mounts, mountServer };
  return { parts, database, catalog, folder, images, events, context, supervisor };
}

/** The lifecycle of sandboxes and their copies. */
function assembleLifecycle(
  { catalog, context, database, parts: { registryPart } }: Awaited<ReturnType<typeof assembleBase>>,
  config: SandboxesConfig,
) {
  const { driver, clock } = context;
  const boots = new Boots(context);
  const isolation = new IsolationPolicy(config.isolation, driver);
  const pool = createWarmPool(context, boots, config, catalog, isolation);
  const claims = new WarmClaims(context, boots, pool);
  const service = new SandboxService(context, boots, catalog, claims, {
    maxRunning: config.max_running,
    isolation,
    imageService: registryPart.imageService,
  });
  const snapshots = new SnapshotService(context, service, createSnapshotRepository(database.kysely, { clock }));
  const volumeParts = createVolumePart(context, database.kysely, snapshots.copies, config.volumes);
  return { boots, claims, isolation, pool, service, snapshots, ...volumeParts };
}

/** What acts inside running sandboxes, builds among it, and where new ones are created. */
function createInside(
  { context, catalog, folder, database }: Awaited<ReturnType<typeof assembleBase>>,
  { service, snapshots, volumeRepository, isolation }: ReturnType<typeof assembleLifecycle>,
  { config, nodes }: Pick<SandboxesDependencies, 'config' | 'nodes'>,
) {
  const { live, clock, disk } = context;
  const { max_commands: maxCommands } = config;
  const inside = {
    files: new FileService({ service, live, clock, disk }),
    commands: new CommandService({ service, live, clock, maxCommands }),
    processes: new ProcessService({ service, live, clock, maxFollowed: maxCommands }),
  };
  const given = { ...inside, service, isolation, nodes, context, catalog, folder, database, config };
  const templatePart = createTemplatePart(given);
  const { templates, buildNodes } = templatePart;
  const openNodes = createNodeRepository(database);
  const sources = { context, service, nodes, openNodes, snapshots, templates, volumes: volumeRepository };
  return { ...inside, templatePart, templates, buildNodes, sourceNodes: new SourceNodes(sources) };
}

async function assemble(deps: SandboxesDependencies) {
  const { config } = deps;
  const base = await assembleBase(deps);
  const { database, catalog, images, events, context, supervisor } = base;
  const { driver, clock, repository, node } = context;
  const lifecycle = assembleLifecycle(base, config);
  const { service, snapshots, volumes } = lifecycle;
  const ticketRepository = createTicketRepository(database.kysely);
  const tickets = new Tickets(ticketRepository, clock, systemRandom);
  const diskGuard = new DiskGuard(context);
  const repairs = { ...lifecycle, supervisor };
  const sweeper = new Sweeper(context, service, ticketRepository, [snapshots, volumes], repairs);
  const usage = createMetricPart(database.kysely, context, events.recorder, config.metrics);
  const places = createTerminalPlaces(database.kysely, node);
  const continuing = createContinuing(deps, database, context, lifecycle, places);
  const inside = createInside(base, lifecycle, deps);
  const { kysely } = database;
  const { recorder } = events;
  const copyRepository = createForkCopyRepository(kysely);
  const forkCopies = new ForkCopies({ context, repository: copyRepository, volumes, mounts: base.parts.mounts });
  const webhooks = createWebhookPart(deps, kysely, context, events.log);
  const access = createAccess(deps, kysely, context);
  const connections = await createConnections(deps, { kysely, context, service, tickets, recorder, places, ...access });
  const { close: closeConnections, ...doors } = connections;
  const notify = (id: string, notice: SandboxNotice): void => {
    inside.commands.notify(id, notice);
    doors.hub.notify(id, notice);
  };
  const parts = { context, service, snapshots, recorder, notify };
  const nodePart = createNodePart({ ...parts, database, config, dataFolder: deps.dataFolder });
  let draining: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    events.endStreams();
    context.storage?.streamed.close();
    await closeConnections();
  };
  return {
    databaseEvents: database.events,
    drain: (): Promise<void> => (draining ??= drain()),
    ...lifecycle,
    ...base.parts,
    kysely,
    catalog,
    ...inside,
    config,
    context,
    diskGuard,
    driver,
    clock,
    ...doors,
    replicas: deps.replicas ?? (() => 1),
    events,
    places,
    images,
    ...continuing,
    nodePart,
    repository,
    supervisor,
    sweeper,
    tickets,
    usage,
    forkCopies,
    confirm: (granted: GrantedAccess) => confirmAccess(deps.access, granted),
    webhooks,
  };
}

async function start(services: Services, log: Logger, signal: AbortSignal): Promise<void> {
  try {
    await takeUp(services, log, signal);
  } finally {
    services.context.recovery.end(); // also if sandboxes are off: then they are refused
  }
}

/** Takes up what runs on this node, and starts the background work. */
async function takeUp(services: Services, log: Logger, signal: AbortSignal): Promise<void> {
  const { context, driver, images, service, boots, supervisor } = services;
  const { watch, repository } = context;
  services.events.follow({ events: services.databaseEvents, watch, repository });
  services.lostNodes.start(); // concerns records, also if no sandbox can run here
  await services.nodePart.join(services.databaseEvents);
  await context.storage?.recover();
  await services.snapshots.forgetUnfinished();
  services.clusterPart.start(services.databaseEvents, context, supervisor, services);
  await images.open();
  const status = await driver.open(signal);
  if (!status.available) {
    log.warn({ reason: status.reason, install: status.install }, 'sandboxes are off');
    // Those of clusters need no driver of this node.
    const { sweeper, events, usage, hub, webhooks } = services;
    for (const each of [sweeper, events, usage, hub, webhooks]) each.start();
    context.storage?.start();
    return;
  }
  signal.throwIfAborted();
  await images.collect();
  await services.places.clear(context.node); // left by the previous process
  await services.snapshots.reconcile();
  await services.volumes.reconcile();
  const { default: isolation, reason } = services.isolation;
  await services.restorer.removeLeftovers(); // before they count as its own
  const reconciled = await reconcile(context, service, boots, supervisor);
  await services.forkCopies.recover();
  await context.rules.start();
  await services.templatePart.start();
  context.recovery.end();
  const facts = {
    ...reconciled,
    isolation,
    ...(reason !== null && { reason }),
  };
  log.info(facts, sharesKernel(isolation) ? "sandboxes are on and share this machine's kernel" : 'sandboxes are on');
  for (const each of [
    services.sweeper,
    services.diskGuard,
    services.events,
    services.usage,
    services.hub,
    services.pool,
    services.nodePart,
    services.webhooks,
  ])
    each.start();
  context.storage?.start();
}

/** Order matters: requests first, then observers, running work, and what they all depend on. */
async function close(services: Services): Promise<void> {
  const { context } = services;
  await services.drain();
  await services.templatePart.close();
  await context.rules.close();
  // Both wait for clusters that do not answer, until these are disconnected.
  await Promise.all([services.usage.close(), services.sweeper.close(), disconnect(services)]);
  await services.pool.close();
  await services.boots.close();
  await context.storage?.close(); // a start that waits for one continues after the next start of the platform
  await services.service.close();
  await services.supervisor.close();
  await context.queue.idle();
  await context.live.close();
  await services.events.close();
  await services.webhooks.close();
  await services.volumeServers.close();
  await services.driver.close();
  services.mountServer.close();
  await services.registryPart.close();
  await services.images.close();
}

async function disconnect({ lostNodes, nodePart, diskGuard, clusterPart }: Services): Promise<void> {
  await lostNodes.close();
  await nodePart.close();
  await diskGuard.close();
  await clusterPart.close();
}

function observe(
  metrics: Metrics,
  { context, hub, commands, usage, pool, driver, previews, ssh, templates }: Services,
): void {
  observeTemplates(metrics, templates);
  observeTerminals(metrics, context, hub, commands);
  usage.observe(metrics);
  observeWarmPool(metrics, pool);
  observePreparedStarts(metrics, driver);
  previews.observe(metrics);
  observeSsh(metrics, ssh);
}
