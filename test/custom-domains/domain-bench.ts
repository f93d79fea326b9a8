import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createHeldRights } from '@svc/access';
import { createNameResolver } from '@svc/addresses';
import { createHttpApp, createListener, createClientOfRequest, type HttpApp, type Listener } from '@svc/http';
import { migrations } from '@svc/migrations';
import {
  createAcmeAuthority,
  createObjectStoreModule,
  objectStoreConfigSchema,
  openBlobStore,
  openSqliteMetadataStore,
  type KeyRing,
  type MetadataStore,
  type ObjectStoreConfig,
  type ObjectStoreModule,
} from '@svc/object-store';
import { openTestKeys } from '@svc/object-store/testing/running-store';
import { unlimitedQuotas, unlimitedTraffic } from '@svc/quotas';
import { unlimitedDisk } from '@svc/runtime';
import { createWebhookSender } from '@svc/webhooks';
import { createLogger, createMetrics } from '@svc/telemetry';
import {
  fakeAccess,
  fakeAudit,
  fakeClock,
  temporaryFolder,
  type FakeAccess,
  type FakeCaller,
  type FakeClock,
} from '@svc/testing';
import { Value } from 'typebox/value';

export interface DomainBenchOptions {
  /** `ADDRESS:PORT` of the name server. */
  nameServer: string;
  /** If absent, no certificates. */
  authority?: { directoryUrl: string; ca: string };
  /** Port of the listener without TLS; defaults to a free one. */
  httpPort?: number;
}

export interface Answer {
  status: number;
  data: Record<string, unknown>;
}

/** The object store with its three listeners and its routes, on a test-controlled clock. */
export interface DomainBench {
  readonly clock: FakeClock;
  readonly metadata: MetadataStore;
  readonly owner: FakeCaller;
  readonly ports: { s3: number; http: number; https: number };
  /** Another user, with their own workspace. */
  stranger(): FakeCaller;
  call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object, as?: FakeCaller): Promise<Answer>;
  /** Runs all due work once. */
  work(): Promise<void>;
  close(): Promise<void>;
}

export async function startDomainBench(options: DomainBenchOptions): Promise<DomainBench> {
  const folder = await temporaryFolder();
  const clock = fakeClock(new Date().toISOString());
  const metadata = await openSqliteMetadataStore({ file: join(folder.path, 'objects.db'), migrations });
  const config = Value.Default(objectStoreConfigSchema, {
    domains: ['s3.test'],
    custom_domains: { proxy_networks: ['198.51.100.0/24'] },
  }) as ObjectStoreConfig; // every field has a default
  const { keyRing, masterKey } = await openTestKeys(folder.path, metadata, { config, clock });
  const ports = { s3: 0, http: 0, https: 0 };
  const access = fakeAccess();
  const log = createLogger({ level: 'silent', name: 'test' });
  const heldRights = createHeldRights(log);
  const module = await createObjectStoreModule({
    metadata,
    blobs: await openBlobStore(config, { folder: join(folder.path, 'blobs'), random: randomBytes, clock }),
    owners: { exists: async () => true, byEmail: async () => null },
    rights: access,
    audit: fakeAudit(),
    heldRights,
    clientOf: createClientOfRequest(),
    installationKey: masterKey,
    keyRing,
    quotaLimits: unlimitedQuotas,
    replicaId: 'the one',
    webhooks: createWebhookSender({ allowedNetworks: [], timeoutMs: 1_000 }),
    domainResolver: createNameResolver({ servers: [options.nameServer], timeoutMs: 500 }),
    certificateAuthority: authorityOf(options, metadata, keyRing, clock),
    config,
    workspaceTraffic: unlimitedTraffic,
    disk: unlimitedDisk,
    log,
    metrics: createMetrics(),
    clock,
    random: randomBytes,
    s3Endpoint: () => `http://127.0.0.1:${ports.s3}`,
  });
  const { listeners, opened } = await openListeners(module, options.httpPort ?? 0);
  Object.assign(ports, opened);
  const app = await startApp(module, access);
  const owner = access.user('owner');
  return {
    clock,
    metadata,
    owner,
    ports,
    stranger: () => access.user('stranger'),
    call: async (method, path, body, as = owner) => {
      const url = `/api/v1/workspace/${as.workspaceUuid}/object-store${path}`;
      const payload = body === undefined ? {} : { payload: body };
      const response = await app.inject({ method, url, headers: as.headers, ...payload });
      return { status: response.statusCode, data: response.json<{ data: Record<string, unknown> }>().data };
    },
    work: () => module.maintain(),
    close: async () => {
      await app.close();
      heldRights.stop();
      for (const listener of listeners) await listener.close(1_000);
      await module.close();
      await folder.remove();
    },
  };
}

function authorityOf(
  { authority }: DomainBenchOptions,
  metadata: MetadataStore,
  secrets: KeyRing,
  clock: FakeClock,
): ReturnType<typeof createAcmeAuthority> | null {
  if (authority === undefined) return null;
  return createAcmeAuthority({ ...authority, metadata, secrets, clock });
}

async function openListeners(
  module: ObjectStoreModule,
  httpPort: number,
): Promise<{ listeners: Listener[]; opened: DomainBench['ports'] }> {
  const s3 = createListener({ handler: module.s3.handler, configure: module.s3.configure });
  const http = createListener(module.sites.http);
  const https = createListener(module.sites.https);
  const opened = {
    s3: await s3.listen(0, '127.0.0.1'),
    http: await http.listen(httpPort, '127.0.0.1'),
    https: await https.listen(0, '127.0.0.1'),
  };
  return { listeners: [s3, http, https], opened };
}

async function startApp(module: ObjectStoreModule, access: FakeAccess): Promise<HttpApp> {
  const log = createLogger({ level: 'silent', name: 'test' });
  const app = await createHttpApp({ log, metrics: createMetrics(), access, audit: fakeAudit(), version: '0' });
  await module.registerRoutes(app);
  await app.ready();
  return app;
}
