import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
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
  type ListenerLimits,
  type ListenerOptions,
} from '@svc/http';
import { createLocalKeyWrapper, type MasterKeys } from '@svc/keys';
import { migrations } from '@svc/migrations';
import { type QuotaLimits, unlimitedQuotas } from '@svc/quotas';
import { backgroundClock, type Clock, type DiskSpace } from '@svc/runtime';
import type { Database } from '@svc/sql';
import { createLogger, createMetrics, type Metrics } from '@svc/telemetry';
import {
  fakeAccess,
  fakeAudit,
  openMigratedFile,
  selfSignedCertificate,
  temporaryFolder,
  type FakeAccess,
  type FakeAudit,
  type FakeCaller,
} from '@svc/testing';
import { createWebhookSender } from '@svc/webhooks';
import { Value } from 'typebox/value';
import { sandboxesConfigSchema, type SandboxesConfig } from '../../src/config.ts';
import type { ArchiveBlobs } from '../../src/domain/archives/archive.ts';
import type { SandboxesDependencies } from '../../src/assembly/dependencies.ts';
import type { SandboxNodes } from '../../src/domain/ports.ts';
import type { SandboxDriver } from '../../src/domain/driver.ts';
import { runFolderOf } from '../../src/adapters/drivers/local/run-folder.ts';
import type { ServedBuckets } from '../../src/routes/mounts/mount-server.ts';
import { createSandboxesModule, type SandboxesModule } from '../../src/module.ts';
import { fakeApiKeys } from './fake-api-keys.ts';
import { helperBinaries, SHARED_IMAGES } from './local-subject.ts';

export interface TestPlatform {
  readonly url: string;
  /** Of the listener with TLS and HTTP/2, if `http2` asks for one. */
  readonly secureUrl: string;
  /** Port of the SSH listener; null unless `config.ssh` sets one. */
  readonly sshPort: number | null;
  /** The data folder, and the local driver's run folder for it. */
  readonly folder: string;
  readonly runFolder: string;
  readonly module: SandboxesModule;
  readonly access: FakeAccess;
  readonly audit: FakeAudit;
  readonly owner: FakeCaller;
  /** Sends a request as a caller, by default the owner. JSON in, JSON out. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Shuts the platform down; `reopen` starts it again on the same data. */
  close(): Promise<void>;
  reopen(): Promise<void>;
  /** Ends everything and removes all data. */
  dispose(): Promise<void>;
}

export interface CallOptions {
  readonly caller?: FakeCaller | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Tests read fields of JSON responses; a wrong assumption fails the expectation.
  readonly body: Record<string, any>; // oxlint-disable-line typescript/no-explicit-any
}

export interface TestPlatformOptions {
  readonly driver?: SandboxDriver;
  readonly clock?: Clock;
  readonly config?: Partial<SandboxesConfig>;
  /** A migrated database that several platforms share; by default a new one on SQLite. */
  readonly database?: Database<unknown>;
  /** Defaults to callers of its own. */
  readonly access?: FakeAccess;
  /** Unlimited by default. */
  readonly quotaLimits?: (access: FakeAccess) => QuotaLimits;
  /** Node of this platform; `local` by default. */
  readonly node?: string;
  /** Connects it with other platforms; by default it has no other replicas. */
  readonly network?: InternalNetwork;
  /** The other nodes; none by default. */
  readonly nodes?: SandboxNodes;
  /** Storage for archives of snapshots; none by default. */
  readonly archives?: ArchiveBlobs;
  /** Whether other nodes reach it. */
  readonly archivesAreShared?: boolean;
  /** Buckets that sandboxes can mount; none by default. */
  readonly buckets?: ServedBuckets;
  /** Connected clusters, and how they are reached; none by default. */
  readonly clusters?: Pick<SandboxesDependencies, 'clusters' | 'clusterConnector'>;
  /** Loads the key of preview links and tokens; always the same by default. */
  readonly previewKey?: () => Promise<KeyObject>;
  /** Unlimited by default. */
  readonly disk?: DiskSpace;
  /** Registry for the module's metrics; a new one by default. */
  readonly metrics?: () => Metrics;
  /** Overrides of the listener's limits, requested each time it opens. */
  readonly limits?: () => Partial<ListenerLimits>;
  /** Called each time when the listener is open and the module has not started yet. */
  readonly onListening?: (call: TestPlatform['call']) => void;
  /** Opens a second listener with TLS, whose certificate signed itself, and HTTP/2. */
  readonly http2?: true;
  /** Image to prepare before the tests; defaults to `debian`, null for none. */
  readonly prepare?: string | null;
  /** Public URL behind a proxy; defaults to the listener itself. */
  readonly publicUrl?: string;
}

const MASTER_KEYS: MasterKeys = { current: createSecretKey(Buffer.alloc(32, 9)), others: [] };
const IMAGE_TIMEOUT_MS = 280_000;

/** Runs the module behind a real listener on loopback, with a migrated SQLite file and the fake access port. */
export async function startPlatform(options: TestPlatformOptions = {}): Promise<TestPlatform> {
  const folder = await temporaryFolder('svc-sbx-');
  const access = options.access ?? fakeAccess();
  const audit = fakeAudit();
  const owner = access.user('owner@example.org');
  const config: SandboxesConfig = {
    ...Value.Create(sandboxesConfigSchema),
    image_cache: SHARED_IMAGES,
    // Tests access no other machine.
    image_registry: '',
    ...options.config,
  };
  const open = () => openOnce(folder.path, access, audit, config, options, owner);
  let current = await open();
  // On a fresh machine, building the image takes minutes, which must not count as test time.
  const { prepare = 'debian' } = options;
  if (options.driver === undefined && prepare !== null) {
    await current.module.prepareImage(prepare, AbortSignal.timeout(IMAGE_TIMEOUT_MS));
  }
  return {
    get url() {
      return current.url;
    },
    get secureUrl() {
      return current.secureUrl;
    },
    get sshPort() {
      return current.sshPort;
    },
    get module() {
      return current.module;
    },
    folder: folder.path,
    runFolder: runFolderOf(folder.path),
    access,
    audit,
    owner,
    call: (method, path, call = {}) => request(current.url, method, path, call, owner),
    close: () => current.close(),
    reopen: async () => {
      current = await open();
    },
    async dispose() {
      await deleteAll(current.url, owner);
      await current.close();
      await folder.remove();
    },
  };
}

/** Deletes all sandboxes, so that a failed test leaves none running. Does nothing if the platform is closed. */
async function deleteAll(url: string, owner: FakeCaller): Promise<void> {
  const listed = await request(url, 'GET', '/api/containers?page_size=200', {}, owner).catch(() => null);
  for (const { id } of listed?.body['containers'] ?? []) {
    await request(url, 'DELETE', `/api/containers/${id}`, {}, owner);
  }
}

/** Of all apps of a process, which saves a tenth of the tests' processor time. */
const schemas = new CompiledSchemas();

async function openOnce(
  folder: string,
  access: FakeAccess,
  audit: FakeAudit,
  config: SandboxesConfig,
  options: TestPlatformOptions,
  owner: FakeCaller,
): Promise<{
  url: string;
  secureUrl: string;
  sshPort: number | null;
  module: SandboxesModule;
  close(): Promise<void>;
}> {
  const file = join(folder, 'svc.db');
  const own = options.database === undefined ? await openMigratedFile<unknown>(file, migrations) : null;
  const database = options.database ?? own;
  if (database === null) throw new Error('a platform has a database');
  const log = createLogger({ level: 'silent', name: 'test' });
  const metrics = options.metrics?.() ?? createMetrics();
  const clock = options.clock ?? backgroundClock;
  const rights = new HeldRights({
    nowMs: () => clock.nowMs(),
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    onError: (err) => log.error({ err }, 'a right could not be checked'),
  });
  const keyWrapper = createLocalKeyWrapper({ loadMasterKeys: async () => MASTER_KEYS, random: randomBytes });
  let url = 'http://127.0.0.1';
  let sshHostKey: string | null = null;
  const node = options.node ?? 'local';
  const member = await options.network?.join(node);
  const forwarding = member?.forwarder ?? noForwarding;
  const clientOf = createClientOfRequest([], (request) => forwarding.hopOf(request));
  const module = await createSandboxesModule({
    database,
    access,
    audit,
    apiKeys: fakeApiKeys(access),
    rights,
    forwarding,
    clientOf,
    log,
    metrics,
    quotaLimits: options.quotaLimits?.(access) ?? unlimitedQuotas,
    config,
    dataFolder: folder,
    node,
    nodes: options.nodes ?? { isLive: async () => false, live: async () => [], silent: async () => [] },
    installationId: 'installation',
    keyWrapper,
    webhooks: createWebhookSender({
      allowedNetworks: config.webhooks.allowed_networks,
      timeoutMs: config.webhooks.timeout_seconds * 1_000,
    }),
    previewKey: options.previewKey ?? (async () => createSecretKey(Buffer.alloc(32, 7))),
    sshHostKey: async (create) => (sshHostKey ??= create()),
    helperBinaries,
    ...options.clusters,
    publicUrl: () => options.publicUrl ?? url,
    secureUrl: () => options.publicUrl ?? url,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.driver === undefined ? {} : { driver: options.driver }),
    ...(options.archives === undefined ? {} : { archives: options.archives }),
    archivesAreShared: options.archivesAreShared ?? true,
    ...(options.buckets === undefined ? {} : { buckets: options.buckets }),
    ...(options.disk === undefined ? {} : { disk: options.disk }),
  });
  const app = await createHttpApp({ log, metrics, access, audit, rights, forwarding, version: '0', schemas });
  await module.registerRoutes(app);
  registerRegistryCheck(app);
  await app.ready();
  const router = new UpgradeRouter(log, rights, clientOf, forwarding);
  module.registerUpgrades(router);
  const served: Required<Pick<ListenerOptions, 'handler' | 'onUpgrade'>> = {
    handler: (request, response) => {
      if (!module.handleHost(request, response)) app.routing(request, response);
    },
    onUpgrade: router.dispatch,
  };
  await member?.open(served, module.owners);
  const listener = createListener({
    ...served,
    ...(options.limits === undefined ? {} : { limits: options.limits() }),
  });
  url = `http://127.0.0.1:${await listener.listen(0, '127.0.0.1')}`;
  const secure =
    options.http2 === true ? createListener({ ...served, http2: true, tls: await selfSignedCertificate() }) : null;
  const secureUrl = secure === null ? '' : `https://127.0.0.1:${await secure.listen(0, '127.0.0.1')}`;
  const sshPort = (await module.ssh?.listen(0, '127.0.0.1')) ?? null;
  options.onListening?.((method, path, call = {}) => request(url, method, path, call, owner));
  const stop = new AbortController();
  await module.start(stop.signal);
  let closed: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    await module.close();
    rights.stop();
    await Promise.all([listener.close(1000), secure?.close(1000)]);
    await member?.close();
    await app.close();
    await own?.close();
  };
  return { url, secureUrl, sshPort, module, close: () => (closed ??= close()) };
}

async function request(
  url: string,
  method: string,
  path: string,
  { caller, body, headers }: CallOptions,
  owner: FakeCaller,
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(caller === null ? {} : (caller ?? owner).headers),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: response.headers.get('content-type')?.includes('json') === true ? JSON.parse(text) : { text },
  };
}
