import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import {
  RateLimiter,
  type RateLimit,
  renderFlatError,
  useErrorRenderer,
  type Access,
  type AuditLog,
  type HttpApp,
  type UpgradeRouter,
} from '@svc/http';
import type { Database } from '@svc/sql';
import type { Logger, Metrics } from '@svc/telemetry';
import type { SandboxesConfig } from './config.ts';
import { Boots } from './domain/boots.ts';
import type { SandboxContext } from './domain/context.ts';
import { KeyedMutex } from './domain/keyed-mutex.ts';
import { LiveSandboxes } from './domain/live-sandboxes.ts';
import { newSandboxId } from './domain/identifiers.ts';
import type { Effects } from './domain/ports.ts';
import { wake } from './domain/pausing.ts';
import { reconcile } from './domain/reconcile.ts';
import { SandboxService } from './domain/sandbox-service.ts';
import { StatusWatch } from './domain/status-watch.ts';
import { Supervisor } from './domain/supervisor.ts';
import { Sweeper } from './domain/sweeper.ts';
import { Tickets } from './domain/tickets.ts';
import { WarmClaims } from './domain/warm-claims.ts';
import type { ShelfFigures } from './domain/warm-shelf.ts';
import type { DriverStatus, Isolation, SandboxDriver } from './drivers/driver.ts';
import { LocalDriver } from './drivers/local/local-driver.ts';
import { runFolderOf } from './drivers/local/run-folder.ts';
import type { EventRecorder } from './events/event-recorder.ts';
import { createEventPart } from './event-module.ts';
import { FileService } from './files/file-service.ts';
import { CommandService } from './exec/command-service.ts';
import { registerExecRoutes } from './http/exec-routes.ts';
import { acceptEmptyJson } from './http/json-body.ts';
import { registerFileReadRoutes } from './http/file-read-routes.ts';
import { registerFileRoutes } from './http/file-routes.ts';
import { registerFileWriteRoutes } from './http/file-write-routes.ts';
import { registerImageRoutes } from './http/image-routes.ts';
import { registerSandboxRoutes } from './http/sandbox-routes.ts';
import { registerSessionRoutes } from './http/session-routes.ts';
import { registerSnapshotMakingRoutes, registerSnapshotRoutes } from './http/snapshot-routes.ts';
import { registerTicketRoutes } from './http/ticket-routes.ts';
import type { ImageCatalog } from './images/catalog.ts';
import { registerWatchRoutes, WatchCounts } from './http/watch-routes.ts';
import { catalogOf } from './images/default-catalog.ts';
import type { ImageStore } from './images/image-store.ts';
import { imageStoreOf } from './images/assembly.ts';
import { createMetricPart } from './metric-module.ts';
import { SnapshotService } from './snapshots/snapshot-service.ts';
import { createSnapshotRepository } from './store/snapshot-repository.ts';
import { createPreviewPart } from './preview-module.ts';
import { createSandboxRepository } from './store/sandbox-repository.ts';
import type { SandboxTables } from './store/tables.ts';
import { createTicketRepository } from './store/ticket-repository.ts';
import { observePreparedStarts } from './prepared-start-metrics.ts';
import { defaultsOf, observeWarmPool, warmPoolOf } from './warm-pool-assembly.ts';
import { TerminalHub } from './terminal/terminal-hub.ts';

export interface SandboxesDependencies {
  /** The platform's database, migrated. */
  readonly database: Database<unknown>;
  readonly access: Access;
  readonly audit: AuditLog;
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
  /** Another driver than the configuration's; for tests. */
  readonly driver?: SandboxDriver;
}

export interface SandboxesModule {
  registerRoutes(app: HttpApp): Promise<void>;
  registerUpgrades(router: UpgradeRouter): void;
  /** Answers requests for previews of ports, and says whether it did: to be asked first, by every listener. */
  handlePreview(request: IncomingMessage, response: ServerResponse): boolean;
  /** Finds out what this machine can do, adopts what runs, and looks after it until `close`. */
  start(signal: AbortSignal): Promise<void>;
  /** Lets go of everything but the sandboxes, which run on and are adopted at the next start. */
  close(): Promise<void>;
  readiness(): { ready: boolean; reason: string | null };
  /** Why the feature is off, with the command that installs what is missing, or what runs it. */
  status(): DriverStatus;
  /** Whether sandboxes may ask for it here. */
  supports(isolation: Isolation): boolean;
  /** Sandboxes that wait for somebody on this replica, of each image of `sandboxes.warm_pool`. */
  warmPool(): readonly ShelfFigures[];
  /** Makes the image now instead of at its first use. */
  prepareImage(name: string, signal: AbortSignal): Promise<{ digest: string }>;
  /** Asks the image's sources again: a newer one may be there. Sandboxes keep what they were made of. */
  pullImage(name: string, signal: AbortSignal): Promise<{ digest: string; changed: boolean }>;
  /** How many sandboxes a workspace has: one that has any is not deleted. */
  countInWorkspace(workspaceUuid: string): Promise<number>;
  /** How many of them run now. */
  runningInWorkspace(workspaceUuid: string): Promise<number>;
}

const PREFIXES = ['/api/containers', '/api/sandboxes'] as const;

export async function createSandboxesModule(deps: SandboxesDependencies): Promise<SandboxesModule> {
  const effects: Effects = { now: () => new Date(), setTimer: setUnrefTimer, randomBytes, ...deps.effects };
  const { config, log } = deps;
  const database = deps.database as Database<SandboxTables>; // the platform's database has every module's tables
  const catalog = catalogOf(config);
  const folder = join(deps.dataFolder, 'sandboxes');
  const { dataFolder, agentFolder } = deps;
  const images = imageStoreOf({ config, catalog, dataFolder, agentFolder, nowMs: () => effects.now().getTime(), log });
  const events = createEventPart(database.kysely, effects, log, config.events);
  const repository = createSandboxRepository(database.kysely, events.told);
  const ticketRepository = createTicketRepository(database.kysely);
  const refused = (id: string, host: string): void => events.refused(repository, id, host);
  const driver = deps.driver ?? (await driverOf(deps, folder, catalog, images, refused));
  const node = deps.node ?? 'local';
  const { context, supervisor } = contextOf({ repository, driver, effects, node, log });
  const boots = new Boots(context);
  const pool = warmPoolOf(context, boots, config, catalog);
  const service = new SandboxService(context, boots, catalog, new WarmClaims(context, boots, pool), config.max_running);
  const tickets = new Tickets(ticketRepository, effects);
  const snapshots = new SnapshotService(context, service, createSnapshotRepository(database.kysely, events.told));
  const sweeper = new Sweeper(context, service, ticketRepository, snapshots);
  const usage = createMetricPart(database.kysely, context, events.recorder, config.metrics);
  const nowMs = (): number => effects.now().getTime();
  const hub = hubOf(deps, context, service, tickets, events.recorder);
  const files = new FileService({ service, live: context.live, effects });
  const commands = new CommandService({ service, live: context.live, effects, maxCommands: config.max_commands });
  const watches = new WatchCounts();
  const createLimiter = new RateLimiter(perMinute(config.max_creates_per_minute), nowMs);
  observe(deps.metrics, context, hub, commands);
  usage.observe(deps.metrics);
  observeWarmPool(deps.metrics, pool);
  observePreparedStarts(deps.metrics, driver);
  const { access, publicUrl } = deps;
  const domain = config.preview_domain;
  const { kysely } = database;
  const previews = createPreviewPart({ kysely, context, service, access, folder, domain, publicUrl });
  previews.observe(deps.metrics);

  return {
    async registerRoutes(app) {
      await app.register(async (scope) => {
        useErrorRenderer(scope, renderFlatError);
        acceptEmptyJson(scope);
        const now = (): Date => effects.now();
        const snapshotRoutes = { service, snapshots, config, createLimiter, images, now };
        registerSnapshotRoutes(scope, snapshotRoutes);
        for (const prefix of PREFIXES) {
          registerSandboxRoutes(scope, { prefix, service, snapshots, config, createLimiter, images });
          registerSnapshotMakingRoutes(scope, { prefix, ...snapshotRoutes });
          registerTicketRoutes(scope, { prefix, service, tickets });
          registerFileRoutes(scope, { prefix, files });
          registerFileReadRoutes(scope, { prefix, files });
          await registerFileWriteRoutes(scope, { prefix, files });
          registerWatchRoutes(scope, { prefix, files, watches });
          registerSessionRoutes(scope, { prefix, service, live: context.live });
          registerExecRoutes(scope, { prefix, commands, effects });
        }
        events.registerRoutes(scope, PREFIXES, service);
        usage.registerRoutes(scope, PREFIXES, service);
        previews.registerRoutes(scope, PREFIXES);
        registerImageRoutes(scope, { catalog, images, driver });
      });
    },
    registerUpgrades(router) {
      previews.registerUpgrades(router);
      router.add(hub);
    },
    handlePreview: (request, response) => previews.handle(request, response),
    async start(signal) {
      await images.open();
      const status = await driver.open();
      if (!status.available) {
        log.warn({ reason: status.reason, install: status.install }, 'sandboxes are off');
        return;
      }
      signal.throwIfAborted();
      await images.collect();
      await snapshots.reconcile();
      log.info(await reconcile(context, service, boots, supervisor), 'sandboxes are on');
      sweeper.start();
      events.start();
      usage.start();
      hub.start();
      pool.start();
    },
    async close() {
      events.endStreams();
      previews.close();
      await usage.close();
      await hub.close();
      await sweeper.close();
      await pool.close();
      await boots.close();
      await service.close();
      await supervisor.close();
      await context.mutex.idle();
      await context.live.close();
      await events.close();
      await driver.close();
      await images.close();
    },
    readiness: () => ({ ready: true, reason: null }),
    status: () => driver.status(),
    supports: (isolation) => driver.supports(isolation),
    warmPool: () => pool.figures(),
    prepareImage: async (name, signal) => ({ digest: (await images.prepare(name, signal)).digest }),
    pullImage: (name, signal) => images.pull(name, signal),
    countInWorkspace: (workspaceUuid) => repository.ofWorkspace(workspaceUuid),
    runningInWorkspace: (workspaceUuid) => repository.ofWorkspace(workspaceUuid, 'running'),
  };
}

async function driverOf(
  deps: SandboxesDependencies,
  folder: string,
  catalog: ImageCatalog,
  images: ImageStore,
  egressRefused: (sandboxId: string, host: string) => void,
): Promise<SandboxDriver> {
  const { docker, registries, nameservers } = deps.config;
  if (deps.config.driver === 'local') return localDriver(deps, folder, images, egressRefused);
  // Most platforms need no client of an engine in their memory.
  const { DockerDriver } = await import('./drivers/docker/docker-driver.ts');
  return new DockerDriver({
    engine: docker,
    dataFolder: deps.dataFolder,
    agentFolder: deps.agentFolder,
    catalog,
    images,
    logins: registries,
    addressPrefix: docker.address_prefix,
    nameservers,
    network: docker.network ?? null,
    log: deps.log,
  });
}

function contextOf(parts: Pick<SandboxContext, 'repository' | 'driver' | 'effects' | 'node' | 'log'>): {
  context: SandboxContext;
  supervisor: Supervisor;
} {
  const { repository, log } = parts;
  const supervisor: Supervisor = new Supervisor(() => context);
  const touch = (id: string, atMs: number): void => {
    repository.touch(id, new Date(atMs).toISOString()).catch((error: unknown) => log.warn({ err: error }, 'touch'));
  };
  const nowMs = (): number => parts.effects.now().getTime();
  const live: LiveSandboxes = new LiveSandboxes(
    (id) => supervisor.lost(id),
    touch,
    (id) => void wake(context, id),
    nowMs,
  );
  const context: SandboxContext = { ...parts, live, watch: new StatusWatch(), mutex: new KeyedMutex() };
  return { context, supervisor };
}

function hubOf(
  { access, audit, config }: SandboxesDependencies,
  { live, effects }: SandboxContext,
  service: SandboxService,
  tickets: Tickets,
  recorder: EventRecorder,
): TerminalHub {
  return new TerminalHub({
    access,
    audit,
    service,
    live,
    tickets,
    recorder,
    effects,
    limiter: new RateLimiter(perMinute(config.max_terminals_per_minute), () => effects.now().getTime()),
    allowedOrigins: config.allowed_origins,
    maxTerminals: config.max_terminals,
  });
}

function localDriver(
  deps: SandboxesDependencies,
  folder: string,
  images: ImageStore,
  egressRefused: (sandboxId: string, host: string) => void,
): SandboxDriver {
  return new LocalDriver({
    dataFolder: folder,
    runFolder: runFolderOf(deps.dataFolder),
    agentFolder: deps.agentFolder,
    images,
    runtime: deps.config.runtime,
    runsc: deps.config.runsc ?? null,
    addressPrefix: deps.config.address_prefix,
    nameservers: deps.config.nameservers,
    egressRefused,
    prepared: { ...defaultsOf(deps.config), count: deps.config.prepared_starts },
    newId: () => newSandboxId((size) => (deps.effects?.randomBytes ?? randomBytes)(size)),
    log: deps.log,
  });
}

function observe(metrics: Metrics, { live }: SandboxContext, hub: TerminalHub, commands: CommandService): void {
  const running = metrics.gauge('svc_sandboxes_running', 'Sandboxes that run on this node');
  const terminals = metrics.gauge('svc_sandbox_terminals_open', 'Terminals and commands that are open');
  const commandsRunning = metrics.gauge('svc_sandbox_commands_running', 'Commands that run by the exec route');
  Object.assign(commandsRunning, { collect: () => commandsRunning.set(commands.running) });
  Object.assign(running, { collect: () => running.set(live.size) });
  Object.assign(terminals, { collect: () => terminals.set(hub.openTerminals) });
}

function perMinute(count: number): RateLimit {
  return { perMinute: count, burst: count };
}

function setUnrefTimer(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}
