import { join } from 'node:path';
import { describeHoldings, type ServiceModule } from '@svc/http';
import { sumUsage, zeroUsage } from '@svc/quotas';
import { backgroundClock, systemRandom, unlimitedDisk } from '@svc/runtime';
import type { Database } from '@svc/sql';
import type { Logger, Metrics } from '@svc/telemetry';
import { createContext } from './assembly/context-assembly.ts';
import type { SandboxesDependencies } from './assembly/dependencies.ts';
import { Boots } from './domain/boots.ts';
import { DiskGuard } from './domain/disk-guard.ts';
import { IsolationPolicy, sharesKernel } from './domain/isolation.ts';
import { LostNodes } from './domain/lost-nodes.ts';
import { reconcile } from './domain/reconcile.ts';
import { SandboxService } from './domain/sandbox-service.ts';
import { Sweeper } from './domain/sweeper.ts';
import { Tickets } from './domain/tickets.ts';
import { WarmClaims } from './domain/warm-claims.ts';
import { createDriver } from './assembly/driver-module.ts';
import { createEventPart } from './assembly/event-module.ts';
import { CommandService } from './domain/exec/command-service.ts';
import { FileService } from './domain/files/file-service.ts';
import { registerRoutes } from './assembly/register-routes.ts';
import { createImageStore } from './adapters/images/assembly.ts';
import { createCatalog } from './adapters/images/default-catalog.ts';
import { createMetricPart } from './assembly/metric-module.ts';
import { observePreparedStarts } from './assembly/prepared-start-metrics.ts';
import { createPreviewPart } from './assembly/preview-module.ts';
import { createPlaces } from './assembly/places.ts';
import { sandboxQuotas } from './quotas.ts';
import { describeMachine, type SandboxesState } from './state.ts';
import { SnapshotService } from './domain/snapshots/snapshot-service.ts';
import { usageByWorkspace } from './store/quota-usage.ts';
import { createSandboxRepository } from './store/sandbox-repository.ts';
import { createSnapshotRepository } from './store/snapshot-repository.ts';
import type { SandboxTables } from './store/tables.ts';
import { createTerminalPlaces } from './store/terminal-places.ts';
import { createTicketRepository } from './store/ticket-repository.ts';
import { createHub, observeTerminals } from './assembly/terminal-module.ts';
import { observeWarmPool, createWarmPool } from './assembly/warm-pool-assembly.ts';

export interface SandboxesModule extends ServiceModule<SandboxesState> {
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
  const services = await assemble(deps);
  const { hub, previews, driver, images, isolation, pool, repository } = services;
  const { driver: driverName, max_per_caller: limit } = deps.config;
  observe(deps.metrics, services);
  return {
    registerRoutes: (app) => registerRoutes(app, services),
    registerUpgrades(router) {
      previews.registerUpgrades(router);
      router.add(hub);
    },
    handleHost: (request, response) => previews.handle(request, response),
    allowsSlowBody: () => false,
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
      limit,
      driver: driverName,
      warm_pool: [...pool.figures()],
    }),
    holdings: async (workspaceUuid) =>
      describeHoldings(await repository.ofWorkspace(workspaceUuid), 'sandbox', 'sandboxes'),
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
  const driver = deps.driver ?? (await createDriver(deps, folder, catalog, images, refused));
  const { node, nodes, quotaLimits } = deps;
  const places = createPlaces(driver, quotaLimits, deps.metrics);
  const random = systemRandom;
  const given = { repository, driver, clock, random, quotaLimits, node, nodes, log, disk, places };
  const { context, supervisor } = createContext(given);
  return { database, catalog, folder, images, events, context, supervisor };
}

async function assemble(deps: SandboxesDependencies) {
  const { config, access, rights, clientOf, publicUrl } = deps;
  const { database, catalog, folder, images, events, context, supervisor } = await assembleBase(deps);
  const { driver, clock, repository, disk, node } = context;
  const ticketRepository = createTicketRepository(database.kysely);
  const boots = new Boots(context);
  const isolation = new IsolationPolicy(config.isolation, driver);
  const pool = createWarmPool(context, boots, config, catalog, isolation);
  const service = new SandboxService(context, boots, catalog, new WarmClaims(context, boots, pool), {
    maxRunning: config.max_running,
    isolation,
  });
  const tickets = new Tickets(ticketRepository, clock, systemRandom);
  const snapshots = new SnapshotService(context, service, createSnapshotRepository(database.kysely, { clock }));
  const diskGuard = new DiskGuard(context);
  const sweeper = new Sweeper(context, service, ticketRepository, snapshots);
  const usage = createMetricPart(database.kysely, context, events.recorder, config.metrics);
  const places = createTerminalPlaces(database.kysely, node);
  const lostNodes = new LostNodes(context, deps.nodes, places);
  const hub = createHub(deps, context, service, tickets, events.recorder, places);
  const files = new FileService({ service, live: context.live, clock, disk });
  const commands = new CommandService({ service, live: context.live, clock, maxCommands: config.max_commands });
  const domain = config.preview_domain;
  const { kysely } = database;
  const previews = createPreviewPart({ kysely, context, service, access, rights, clientOf, folder, domain, publicUrl });
  let draining: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    events.endStreams();
    previews.close();
    await hub.close();
  };
  return {
    databaseEvents: database.events,
    drain: (): Promise<void> => (draining ??= drain()),
    kysely,
    boots,
    catalog,
    commands,
    config,
    context,
    diskGuard,
    driver,
    clock,
    events,
    files,
    hub,
    places,
    images,
    isolation,
    lostNodes,
    pool,
    previews,
    repository,
    service,
    snapshots,
    supervisor,
    sweeper,
    tickets,
    usage,
  };
}

async function start(services: Services, log: Logger, signal: AbortSignal): Promise<void> {
  const { context, driver, images, service, boots, supervisor } = services;
  const { watch, repository } = context;
  services.events.follow({ events: services.databaseEvents, watch, repository });
  services.lostNodes.start(); // concerns records, also if no sandbox can run here
  await images.open();
  const status = await driver.open();
  if (!status.available) {
    log.warn({ reason: status.reason, install: status.install }, 'sandboxes are off');
    return;
  }
  signal.throwIfAborted();
  await images.collect();
  await services.places.clear(context.node); // left by the previous process
  await services.snapshots.reconcile();
  const { default: isolation, reason } = services.isolation;
  const facts = {
    ...(await reconcile(context, service, boots, supervisor)),
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
  ])
    each.start();
}

/** Order matters: requests first, then observers, running work, and what they all depend on. */
async function close(services: Services): Promise<void> {
  const { context } = services;
  await services.drain();
  await services.usage.close();
  await services.sweeper.close();
  await services.lostNodes.close();
  await services.diskGuard.close();
  await services.pool.close();
  await services.boots.close();
  await services.service.close();
  await services.supervisor.close();
  await context.queue.idle();
  await context.live.close();
  await services.events.close();
  await services.driver.close();
  await services.images.close();
}

function observe(metrics: Metrics, { context, hub, commands, usage, pool, driver, previews }: Services): void {
  observeTerminals(metrics, context, hub, commands);
  usage.observe(metrics);
  observeWarmPool(metrics, pool);
  observePreparedStarts(metrics, driver);
  previews.observe(metrics);
}
