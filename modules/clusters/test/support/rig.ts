import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { HeldRights } from '@svc/access';
import type { InternalNetwork } from '@svc/forward/testing';
import {
  createClientOfRequest,
  CompiledSchemas,
  createHttpApp,
  createListener,
  noForwarding,
  registerRegistryCheck,
  UpgradeRouter,
  type Listener,
  type ListenerOptions,
} from '@svc/http';
import { migrations } from '@svc/migrations';
import { unlimitedQuotas } from '@svc/quotas';
import type { Database } from '@svc/sql';
import { createLogger, createMetrics } from '@svc/telemetry';
import {
  fakeAccess,
  fakeAudit,
  sqliteSource,
  waitFor,
  type FakeAccess,
  type FakeAudit,
  type FakeCaller,
  type FakeClock,
} from '@svc/testing';
import { Default } from 'typebox/value';
import { clustersConfigSchema, type ClustersConfig } from '../../src/config.ts';
import { systemClock, type Clock } from '@svc/runtime';
import { createClustersModule, type ClustersModule } from '../../src/module.ts';
import { createStores, type Stores } from '../../src/store/stores.ts';
import type { ClusterTables } from '../../src/store/tables.ts';

export interface RigOptions {
  clock?: Clock;
  config?: Partial<ClustersConfig>;
  publicUrl?: string;
  trustedProxies?: readonly string[];
  /** A database that several rigs share; by default a new one on SQLite. */
  database?: Database<ClusterTables>;
  /** Defaults to callers of its own. */
  access?: FakeAccess;
  replicaId?: string;
  /** Connects it with other rigs; by default it has no other replicas. */
  network?: InternalNetwork;
  /** Folder with the agent's images. */
  agentImagesFolder?: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  // Bodies of many routes: a test reads the fields it knows.
  body: Record<string, unknown>;
}

/** The module on a real listener and a real database; it can be stopped and restarted on the same data. */
export interface Rig {
  readonly access: FakeAccess;
  readonly audit: FakeAudit;
  readonly owner: FakeCaller;
  readonly module: ClustersModule;
  readonly stores: Stores;
  readonly url: string;
  readonly port: number;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Registers a cluster of the owner. */
  addCluster(name?: string): Promise<{ id: string; name: string; token: string }>;
  /** Ends the module without a drain, like a crash, and starts another on the same database and port. */
  crash(): Promise<void>;
  close(): Promise<void>;
}

export interface CallOptions {
  caller?: FakeCaller | null;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Closes a rig whose clock stands still: advances the clock so that its shutdown timers fire. */
export async function closeWithClock(rig: Rig, clock: FakeClock): Promise<void> {
  let closed = false;
  const closing = rig.close().then(() => {
    closed = true;
  });
  await waitFor(async () => {
    await clock.advance(100);
    return closed;
  });
  await closing;
}

export function testConfig(overrides: Partial<ClustersConfig> = {}): ClustersConfig {
  return { ...(Default(clustersConfigSchema, {}) as ClustersConfig), drain_seconds: 0, ...overrides };
}

/** Of all apps of a process, which saves a tenth of the tests' processor time. */
const schemas = new CompiledSchemas();

export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const source = options.database === undefined ? await sqliteSource(migrations) : null;
  const own = await source?.open<ClusterTables>();
  const database = options.database ?? own;
  if (database === undefined) throw new Error('a rig has a database');
  const access = options.access ?? fakeAccess();
  const audit = fakeAudit();
  const owner = access.user('owner');
  let running = await run(database, access, audit, options, 0);
  const call = async (method: string, path: string, init: CallOptions = {}): Promise<Answer> => {
    const caller = init.caller === undefined ? owner : init.caller;
    const response = await fetch(running.url + path, {
      method,
      headers: {
        ...caller?.headers,
        ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...init.headers,
      },
      ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
      ...(init.signal === undefined ? {} : { signal: init.signal }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text) };
  };
  return {
    access,
    audit,
    owner,
    get module() {
      return running.module;
    },
    stores: createStores(database.kysely),
    get url() {
      return running.url;
    },
    get port() {
      return running.port;
    },
    call,
    addCluster: async (name = 'production') => {
      const { status, body } = await call('POST', '/v1/clusters', { body: { name } });
      if (status !== 201) throw new Error(`the cluster was not made: ${JSON.stringify(body)}`);
      return { id: String(body['id']), name, token: String(body['token']) };
    },
    crash: async () => {
      await running.cut();
      running = await run(database, access, audit, options, running.port);
    },
    close: async () => {
      await running.close();
      await own?.close();
      await source?.close();
    },
  };
}

interface Running {
  module: ClustersModule;
  url: string;
  port: number;
  close(): Promise<void>;
  cut(): Promise<void>;
}

async function run(
  database: Database<ClusterTables>,
  access: FakeAccess,
  audit: FakeAudit,
  options: RigOptions,
  port: number,
): Promise<Running> {
  const log = createLogger({ level: 'silent', name: 'test' });
  const metrics = createMetrics();
  const clock = options.clock ?? systemClock;
  const rights = new HeldRights({
    nowMs: () => clock.nowMs(),
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    onError: (error) => log.error({ err: error }, 'a right could not be checked'),
  });
  const replicaId = options.replicaId ?? 'replica-1';
  const member = await options.network?.join(replicaId);
  const forwarding = member?.forwarder ?? noForwarding;
  const app = await createHttpApp({ log, metrics, access, audit, rights, forwarding, version: 'test', schemas });
  const clientOf = createClientOfRequest(options.trustedProxies, (request) => forwarding.hopOf(request));
  const module = await createClustersModule({
    kysely: database.kysely,
    events: database.events,
    config: testConfig(options.config),
    log,
    metrics,
    clock,
    randomBytes,
    replicaId,
    version: '1.2.3',
    deployFolder: fileURLToPath(new URL('../../../../deploy', import.meta.url)),
    agentImagesFolder: options.agentImagesFolder ?? '/nonexistent',
    access,
    audit,
    rights,
    forwarding,
    clientOf,
    quotaLimits: unlimitedQuotas,
    endpoints: {
      publicUrl: () => options.publicUrl ?? 'https://platform.example',
      secureUrl: () => 'https://127.0.0.1:4443',
      certificateAuthority: () => 'PEM of the authority',
    },
  });
  const upgrades = new UpgradeRouter(log, rights, clientOf, forwarding);
  await module.registerRoutes(app);
  registerRegistryCheck(app);
  module.registerUpgrades(upgrades);
  await app.ready();
  const served: Required<Pick<ListenerOptions, 'handler' | 'onUpgrade'>> = {
    handler: (request, response) => {
      if (!module.handleHost(request, response)) app.routing(request, response);
    },
    onUpgrade: upgrades.dispatch,
  };
  const listener: Listener = createListener(served);
  await member?.open(served, module.owners);
  const actualPort = await listener.listen(port, '127.0.0.1');
  await module.start(new AbortController().signal);
  const end = async (): Promise<void> => {
    rights.stop();
    await listener.close(0);
    await member?.close();
    await app.close();
  };
  return {
    module,
    url: `http://127.0.0.1:${actualPort}`,
    port: (listener.server.address() as AddressInfo).port, // a TCP listener
    close: async () => {
      await module.close();
      await end();
    },
    cut: async () => {
      await end(); // close the sockets first, so that no drain reaches the agents
      await module.close();
    },
  };
}

function parse(text: string): Record<string, unknown> {
  if (text === '') return {};
  try {
    return JSON.parse(text) as Record<string, unknown>; // the tests check the body themselves
  } catch {
    return { text };
  }
}
