import { randomBytes, type KeyObject } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createHeldRights, HeldRights, type AuditLog } from '@svc/access';
import { createListener, createClientOfRequest, type Listener, type ListenerLimits } from '@svc/http';
import { createLocalKeyWrapper, loadMasterKeys, type KeyWrapper } from '@svc/keys';
import { migrations } from '@svc/migrations';
import { unlimitedQuotas, unlimitedTraffic, type QuotaLimits, type WorkspaceTraffic } from '@svc/quotas';
import { systemClock, unlimitedDisk, type Clock, type DiskSpace } from '@svc/runtime';
import { createLogger, createMetrics, type Logger } from '@svc/telemetry';
import { writeSqliteFile } from '@svc/testing';
import { Value } from 'typebox/value';
import { objectStoreConfigSchema, type ObjectStoreConfig } from '../../src/config.ts';
import { openBlobStore } from '../../src/adapters/engines/assembly.ts';
import { openEmbeddedBlobStore } from '../../src/adapters/engines/embedded/blob-store.ts';
import type { FileSystem } from '../../src/adapters/engines/embedded/file-system.ts';
import { openSqliteMetadataStore } from '../../src/store/sqlite/store.ts';
import { createObjectStoreModule, type ObjectStoreModule } from '../../src/module.ts';
import type { BlobStore } from '../../src/domain/ports/blob-store.ts';
import type { CertificateAuthority, DomainResolver } from '../../src/domain/ports/custom-domains.ts';
import type { MakerRights } from '../../src/domain/ports/maker-rights.ts';
import type { MetadataStore } from '../../src/domain/ports/metadata-store.ts';
import type { KeyMaker, KeyPermission } from '../../src/domain/ports/records.ts';
import { SecretBox } from '../../src/domain/secrets/secret-box.ts';
import { KeyRing } from '../../src/domain/secrets/key-ring.ts';
import { createWebhookSender } from '@svc/webhooks';
import { createNameResolver } from '@svc/addresses';
import { createIdentifiers } from '../../src/domain/identifiers.ts';

export interface TestKey {
  accessKeyId: string;
  secretAccessKey: string;
}

/** The whole module on a real folder with a real listener, as in the platform. */
export interface RunningStore {
  readonly module: ObjectStoreModule;
  readonly metadata: MetadataStore;
  readonly keyRing: KeyRing;
  readonly blobs: BlobStore;
  readonly listener: Listener;
  readonly endpoint: string;
  readonly port: number;
  /** Creates a key as the management API does, after provisioning the workspace. */
  createKey(options: CreateTestKey): Promise<TestKey>;
  close(): Promise<void>;
}

export interface CreateTestKey {
  workspaceUuid: string;
  permissions?: readonly KeyPermission[];
  buckets?: readonly string[] | null;
  expiresAtMs?: number | null;
  /** Default: a creator with every permission. */
  maker?: KeyMaker;
}

/** Creator of keys in tests that do not depend on it. */
const TEST_MAKER: KeyMaker = { principalId: 'test', tokenId: null, kind: 'user', name: 'test' };

export interface RunningStoreOptions {
  /** Default: a resolver without a reachable server. */
  domainResolver?: DomainResolver;
  certificateAuthority?: (metadata: MetadataStore, secrets: KeyRing) => CertificateAuthority;
  /** Default: wraps keys with the master key of the folder. */
  keyWrapper?: KeyWrapper;
  config?: Partial<ObjectStoreConfig>;
  clock?: Clock;
  /** True to act like one of several replicas. */
  sharesDatabase?: boolean;
  log?: Logger;
  port?: number;
  limits?: Partial<ListenerLimits>;
  /** Unlimited when absent. */
  workspaceTraffic?: WorkspaceTraffic;
  /** Unlimited when absent. */
  disk?: DiskSpace;
  /** File system below the embedded engine, to inject faults. */
  fileSystem?: FileSystem;
  /** Rights of key creators other than the default one. */
  rights?: MakerRights;
  audit?: AuditLog;
  trustedProxies?: readonly string[];
  /** Workspace by email address; every workspace exists. */
  emails?: Readonly<Record<string, string>>;
  /** Unlimited when absent. */
  quotaLimits?: QuotaLimits;
}

export function testConfig(overrides: Partial<ObjectStoreConfig> = {}): ObjectStoreConfig {
  const defaults = Value.Default(objectStoreConfigSchema, {}) as ObjectStoreConfig; // every field has a default
  return { ...defaults, ...overrides };
}

export async function startStore(folder: string, options: RunningStoreOptions = {}): Promise<RunningStore> {
  const clock = options.clock ?? systemClock;
  const log = options.log ?? createLogger({ level: 'silent', name: 'test' });
  await mkdir(folder, { recursive: true });
  const metadata = await openTestMetadata(join(folder, 'objects.db'));
  const config = testConfig(options.config);
  const { keyRing, masterKey } = await openTestKeys(folder, metadata, {
    config,
    clock,
    ...(options.keyWrapper === undefined ? {} : { keyWrapper: options.keyWrapper }),
  });
  const disk = options.disk ?? unlimitedDisk;
  const parts = { folder: join(folder, 'objects'), random: randomBytes, clock, disk };
  const { fileSystem } = options;
  const blobs = await (fileSystem === undefined
    ? openBlobStore(config, parts)
    : openEmbeddedBlobStore({ ...parts, fileSystem }));
  let endpoint = '';
  const heldRights = createTestHeldRights(options, log);
  const { allowed_networks: allowedNetworks, timeout_seconds: timeoutSeconds } = config.notifications;
  const module = await createObjectStoreModule({
    replicaId: 'the one',
    sharesDatabase: options.sharesDatabase ?? false,
    webhooks: createWebhookSender({ allowedNetworks, timeoutMs: timeoutSeconds * 1_000 }),
    metadata,
    blobs,
    owners: {
      exists: async () => true,
      byEmail: async (email) => options.emails?.[email] ?? null,
    },
    rights: createRights(options),
    audit: options.audit ?? { record: async () => undefined },
    clientOf: createClientOfRequest(options.trustedProxies),
    heldRights,
    installationKey: masterKey,
    keyRing,
    quotaLimits: options.quotaLimits ?? unlimitedQuotas,
    workspaceTraffic: options.workspaceTraffic ?? unlimitedTraffic,
    disk,
    config,
    domainResolver: options.domainResolver ?? createNameResolver({ servers: ['127.0.0.1:1'], timeoutMs: 100 }),
    certificateAuthority: options.certificateAuthority?.(metadata, keyRing) ?? null,
    log,
    metrics: createMetrics(),
    clock,
    random: randomBytes,
    s3Endpoint: () => endpoint,
  });
  const listener = createListener({ ...module.s3, limits: options.limits ?? {} });
  const port = await listener.listen(options.port ?? 0, '127.0.0.1');
  endpoint = `http://127.0.0.1:${port}`;
  return {
    module,
    metadata,
    keyRing,
    blobs,
    listener,
    endpoint,
    port,
    createKey: (wanted) => createKey(metadata, keyRing, wanted, clock.nowMs()),
    close: async () => {
      heldRights.stop();
      await listener.close(1_000);
      await module.close();
    },
  };
}

/** Uses the clock of the test if it has one. */
/** Opens the metadata store of a file; a new file is migrated once in a process. */
async function openTestMetadata(file: string): Promise<MetadataStore> {
  await writeSqliteFile(file, openTestMetadata, async (first) => {
    await (await openSqliteMetadataStore({ file: first, migrations })).close();
  });
  return openSqliteMetadataStore({ file, migrations });
}

function createTestHeldRights({ clock }: RunningStoreOptions, log: Logger): HeldRights {
  if (clock === undefined) return createHeldRights(log);
  return new HeldRights({ ...clock, onError: (error) => log.error({ err: error }, 'a check failed') });
}

function createRights({ rights }: RunningStoreOptions): MakerRights {
  return {
    allowedActions: async (request) => {
      if (request.maker.principalId === TEST_MAKER.principalId) return new Set(request.actions);
      return (await rights?.allowedActions(request)) ?? new Set();
    },
  };
}

/** Opens the key ring of the store in this folder, with its master key next to it. */
export async function openTestKeys(
  folder: string,
  metadata: MetadataStore,
  options: { config: ObjectStoreConfig; clock: Clock; keyWrapper?: KeyWrapper },
): Promise<{ keyRing: KeyRing; masterKey: KeyObject }> {
  const load = () => loadMasterKeys({ file: join(folder, 'master.key'), random: randomBytes });
  const { current: masterKey } = await load();
  const wrapper = options.keyWrapper ?? createLocalKeyWrapper({ loadMasterKeys: load, random: randomBytes });
  const keyRing = new KeyRing({
    metadata,
    wrapper,
    legacy: new SecretBox(masterKey, randomBytes),
    cacheMs: options.config.key_service.cache_seconds * 1_000,
    random: randomBytes,
    clock: options.clock,
  });
  return { keyRing, masterKey };
}

async function createKey(
  metadata: MetadataStore,
  secrets: KeyRing,
  wanted: CreateTestKey,
  nowMs: number,
): Promise<TestKey> {
  const identifiers = createIdentifiers(randomBytes);
  const { workspaceUuid, permissions = ['read', 'write', 'admin'], buckets = null, expiresAtMs = null } = wanted;
  const { maker = TEST_MAKER } = wanted;
  await provision(metadata, workspaceUuid, nowMs);
  const accessKeyId = identifiers.accessKeyId();
  const secretAccessKey = identifiers.secretAccessKey();
  const key = {
    accessKeyId,
    workspaceUuid,
    label: 'test',
    permissions,
    buckets,
    sealedSecret: await secrets.seal(secretAccessKey, accessKeyId),
    createdAtMs: nowMs,
    createdBy: maker,
    expiresAtMs,
    lastUsedAtMs: null,
  };
  await metadata.createAccessKey({ key, maxKeys: 1_000 });
  return { accessKeyId, secretAccessKey };
}

/** Creates and deletes a bucket, which leaves the workspace provisioned and empty. */
async function provision(metadata: MetadataStore, workspaceUuid: string, nowMs: number): Promise<void> {
  if (await metadata.isProvisioned({ workspaceUuid })) return;
  const id = randomBytes(6).readUIntBE(0, 6);
  const name = `first-${randomBytes(8).toString('hex')}`;
  await metadata.createBucket({
    id,
    name,
    workspaceUuid,
    nowMs,
    encryptionMode: 'none',
    locationHint: null,
    tenant: await unlimitedQuotas.readLimits(workspaceUuid),
  });
  await metadata.deleteBucket({ bucketId: id, nowMs, trashDueAtMs: nowMs });
}
