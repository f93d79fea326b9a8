import { join } from 'node:path';
import {
  createClientOfRequest,
  createHttpApp,
  createListener,
  HeldRights,
  UpgradeRouter,
  type ListenerLimits,
} from '@svc/http';
import { migrations } from '@svc/migrations';
import { type QuotaLimits, unlimitedQuotas } from '@svc/quotas';
import type { DiskSpace } from '@svc/runtime';
import { migrate, openDatabase } from '@svc/sql';
import { createLogger, createMetrics, type Metrics } from '@svc/telemetry';
import { fakeAccess, fakeAudit, temporaryFolder, type FakeAccess, type FakeAudit, type FakeCaller } from '@svc/testing';
import { Value } from 'typebox/value';
import { sandboxesConfigSchema, type SandboxesConfig } from '../../src/config.ts';
import type { Effects } from '../../src/domain/ports.ts';
import type { SandboxDriver } from '../../src/domain/driver.ts';
import { runFolderOf } from '../../src/adapters/drivers/local/run-folder.ts';
import { createSandboxesModule, type SandboxesModule } from '../../src/module.ts';
import { systemEffects } from '../../src/assembly/system-effects.ts';
import { AGENT_FOLDER, SHARED_IMAGES } from './local-subject.ts';

export interface TestPlatform {
  readonly url: string;
  /** The data folder, and where the local driver keeps its sockets for it. */
  readonly folder: string;
  readonly runFolder: string;
  readonly module: SandboxesModule;
  readonly access: FakeAccess;
  readonly audit: FakeAudit;
  readonly owner: FakeCaller;
  /** A request as a caller, by default the owner. JSON in, JSON out. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Ends this process's part as a shutdown does; `reopen` starts again on the same data. */
  close(): Promise<void>;
  reopen(): Promise<void>;
  /** Ends everything and removes what is left. */
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
  // Tests look at fields of JSON answers; a wrong guess fails the expectation.
  readonly body: Record<string, any>; // oxlint-disable-line typescript/no-explicit-any
}

export interface TestPlatformOptions {
  readonly driver?: SandboxDriver;
  readonly effects?: Partial<Effects>;
  readonly config?: Partial<SandboxesConfig>;
  /** Nothing is limited by default. */
  readonly quotaLimits?: (access: FakeAccess) => QuotaLimits;
  /** Unlimited when absent. */
  readonly disk?: DiskSpace;
  /** Where the module's figures go; a new registry when none is given. */
  readonly metrics?: () => Metrics;
  /** What differs of the listener's limits, asked for at every opening. */
  readonly limits?: () => Partial<ListenerLimits>;
  /** The image that is made before the tests begin; by default the catalog's own. */
  readonly prepare?: string;
  /** Where a proxy offers the platform; by default the listener itself. */
  readonly publicUrl?: string;
}

const IMAGE_TIMEOUT_MS = 280_000;

/** The module behind a real listener on loopback, on a migrated SQLite file, with the fake access port. */
export async function startPlatform(options: TestPlatformOptions = {}): Promise<TestPlatform> {
  const folder = await temporaryFolder('svc-sbx-');
  const access = fakeAccess();
  const audit = fakeAudit();
  const owner = access.user('owner@example.org');
  const config: SandboxesConfig = {
    ...Value.Create(sandboxesConfigSchema),
    image_cache: SHARED_IMAGES,
    // Tests ask nobody outside of this machine.
    image_registry: '',
    ...options.config,
  };
  const open = () => openOnce(folder.path, access, audit, config, options);
  let current = await open();
  // On a fresh machine the image takes minutes to make, which is not what the tests are about.
  if (options.driver === undefined) {
    await current.module.prepareImage(options.prepare ?? 'debian', AbortSignal.timeout(IMAGE_TIMEOUT_MS));
  }
  return {
    get url() {
      return current.url;
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

/** A test that failed must not leave sandboxes running on the machine. One that closed the platform has none to reach. */
async function deleteAll(url: string, owner: FakeCaller): Promise<void> {
  const listed = await request(url, 'GET', '/api/containers?page_size=200', {}, owner).catch(() => null);
  for (const { id } of listed?.body['containers'] ?? []) {
    await request(url, 'DELETE', `/api/containers/${id}`, {}, owner);
  }
}

async function openOnce(
  folder: string,
  access: FakeAccess,
  audit: FakeAudit,
  config: SandboxesConfig,
  options: TestPlatformOptions,
): Promise<{ url: string; module: SandboxesModule; close(): Promise<void> }> {
  const database = openDatabase<unknown>({ file: join(folder, 'svc.db') });
  await migrate(database, migrations);
  const log = createLogger({ level: 'silent', name: 'test' });
  const metrics = options.metrics?.() ?? createMetrics();
  const { now, setTimer } = { ...systemEffects, ...options.effects };
  const rights = new HeldRights({
    nowMs: () => now().getTime(),
    setTimer,
    onError: (err) => log.error({ err }, 'a right could not be checked'),
  });
  let url = 'http://127.0.0.1';
  const module = await createSandboxesModule({
    database,
    access,
    audit,
    rights,
    clientOf: createClientOfRequest(),
    log,
    metrics,
    quotaLimits: options.quotaLimits?.(access) ?? unlimitedQuotas,
    config,
    dataFolder: folder,
    agentFolder: AGENT_FOLDER,
    publicUrl: () => options.publicUrl ?? url,
    ...(options.effects === undefined ? {} : { effects: options.effects }),
    ...(options.driver === undefined ? {} : { driver: options.driver }),
    ...(options.disk === undefined ? {} : { disk: options.disk }),
  });
  const app = await createHttpApp({ log, metrics, access, audit, rights, version: '0' });
  await module.registerRoutes(app);
  await app.ready();
  const router = new UpgradeRouter(log, rights);
  module.registerUpgrades(router);
  const listener = createListener({
    handler: (request, response) => {
      if (!module.handlePreview(request, response)) app.routing(request, response);
    },
    onUpgrade: router.dispatch,
    ...(options.limits === undefined ? {} : { limits: options.limits() }),
  });
  url = `http://127.0.0.1:${await listener.listen(0, '127.0.0.1')}`;
  const stop = new AbortController();
  await module.start(stop.signal);
  let closed: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    await module.close();
    rights.stop();
    await listener.close(1000);
    await app.close();
    await database.close();
  };
  return { url, module, close: () => (closed ??= close()) };
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
