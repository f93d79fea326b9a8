import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Access, AuditLog, HeldRights } from '@svc/access';
import type { AccountsModule } from '@svc/accounts';
import { createNameResolver } from '@svc/addresses';
import {
  createClustersModule,
  createDisabledClustersModule,
  type ClustersModule,
  type ClustersState,
} from '@svc/clusters';
import type { HelperBinaries } from '@svc/helper-binary';
import type { ClientOfRequest, Forwarding, ServiceModule } from '@svc/http';
import {
  createAcmeAuthority,
  createDisabledObjectStoreModule,
  createObjectStoreModule,
  loadInstallationKey,
  openBlobStore,
  type BlobStore,
  type CertificateAuthority,
  type DisabledObjectStoreModule,
  type KeyRing,
  type MetadataStore,
  type ObjectStoreModule,
} from '@svc/object-store';
import type { QuotaLimits, WorkspaceTraffic } from '@svc/quotas';
import type { Installation, ReplicaRegistry, SealedSecrets } from '@svc/replicas';
import { systemClock, type Clock, type DiskSpace } from '@svc/runtime';
import {
  createDisabledSandboxesModule,
  createSandboxesModule,
  type SandboxesState,
  type SandboxNodes,
  type SshPart,
} from '@svc/sandboxes';
import type { Logger, Metrics } from '@svc/telemetry';
import { createWebhookSender } from '@svc/webhooks';
import type { PlatformConfig } from './config.ts';
import type { DataFolder } from './data-folder.ts';
import type { Databases } from './databases.ts';
import { diskForRows } from './disk-reserve.ts';
import type { Endpoints } from './endpoints.ts';
import { createKeyRing, type PlatformKeys } from './keys.ts';
import { BLOBS_FOLDER, openMetadata } from './object-store/open-store.ts';
import type { ServiceName } from './service-names.ts';
import { loadPreviewKey, loadSshHostKey } from './shared-secrets.ts';
import { VERSION } from './version.ts';
import { fileURLToPath } from 'node:url';

/** Chart and manifest of the cluster agent, shipped with the project. */
const DEPLOY_FOLDER = fileURLToPath(new URL('../../../deploy', import.meta.url));

/** Of the engine's keys, after the prefix of the store. */
const ARCHIVES_PREFIX = 'sandbox-archives/';

/** Of the embedded engine, in the folder of the module. */
const ARCHIVES_FOLDER = 'archives';

/** The services, in the order in which they start. */
export interface ServiceModules {
  clusters: ServiceModule<ClustersState>;
  objectStore: ObjectStoreModule | DisabledObjectStoreModule;
  sandboxes: ServiceModule<SandboxesState> & SshPart;
}

export interface ServiceModulesDeps {
  config: PlatformConfig;
  log: Logger;
  metrics: Metrics;
  folder: DataFolder;
  databases: Databases;
  replica: ReplicaRegistry;
  installation: Installation;
  keys: PlatformKeys;
  secrets: SealedSecrets;
  access: Access;
  audit: AuditLog;
  rights: HeldRights;
  forwarding: Forwarding;
  clientOf: ClientOfRequest;
  accounts: Pick<AccountsModule, 'directory' | 'apiKeys'>;
  quotaLimits: QuotaLimits;
  workspaceTraffic: WorkspaceTraffic;
  /** The data folder's disk, without its reserve. */
  disk: DiskSpace;
  endpoints: Endpoints;
  helperBinaries: HelperBinaries;
}

/** Creates the modules of the configured services; the others are disabled ones. */
export async function createServiceModules(deps: ServiceModulesDeps): Promise<ServiceModules> {
  const isEnabled = (name: ServiceName): boolean => deps.config.services.includes(name);
  const reason = 'disabled in the configuration (services)';
  const enabledClusters = isEnabled('clusters') ? await createClusters(deps) : null;
  const objectStore = isEnabled('object-store')
    ? await createObjectStore(deps)
    : createDisabledObjectStoreModule(reason);
  return {
    clusters: enabledClusters ?? createDisabledClustersModule(reason),
    objectStore,
    sandboxes: isEnabled('sandboxes')
      ? await createSandboxes(deps, objectStore.folders, enabledClusters)
      : createDisabledSandboxesModule(reason),
  };
}

function createClusters(deps: ServiceModulesDeps): Promise<ClustersModule> {
  const { config, log, metrics, folder, databases, access, audit, rights, clientOf, quotaLimits, endpoints } = deps;
  return createClustersModule({
    kysely: databases.main.kysely,
    events: databases.main.events,
    config: config.clusters,
    log,
    metrics,
    clock: createSharedClock(deps.replica),
    randomBytes,
    replicaId: deps.replica.id,
    version: VERSION,
    deployFolder: DEPLOY_FOLDER,
    agentImagesFolder: folder.agentImagesFolder,
    access,
    audit,
    rights,
    forwarding: deps.forwarding,
    clientOf,
    quotaLimits,
    endpoints: {
      publicUrl: () => endpoints.url,
      secureUrl: () => endpoints.secureUrl,
      certificateAuthority: () => endpoints.certificateAuthority,
    },
  });
}

async function createObjectStore(deps: ServiceModulesDeps): Promise<ObjectStoreModule> {
  const { config, folder, keys, endpoints, log, metrics, quotaLimits } = deps;
  const { shareOf } = quotaLimits;
  const metadata = await openMetadata(deps.databases.main, folder, shareOf);
  const keyRing = createKeyRing(config, keys, metadata);
  const waited = metrics.histogram('svc_blob_write_wait_seconds', 'Queue time of blob writes');
  const { custom_domains: customDomains, notifications } = config.object_store;
  return createObjectStoreModule({
    metadata,
    blobs: await openBlobStore(config.object_store, {
      folder: join(folder.objectsFolder, BLOBS_FOLDER),
      random: randomBytes,
      clock: systemClock,
      disk: deps.disk,
      shareOf,
      onWriteWaited: (waitedMs) => waited.observe(waitedMs / 1_000),
    }),
    owners: deps.accounts.directory,
    rights: deps.access,
    heldRights: deps.rights,
    audit: deps.audit,
    clientOf: deps.clientOf,
    installationKey: await loadInstallationKey(metadata, keys.local, keys.master.current),
    keyRing,
    quotaLimits,
    domainResolver: createNameResolver({ servers: customDomains.resolvers }),
    replicaId: deps.replica.id,
    sharesDatabase: deps.databases.main.dialect === 'postgres',
    webhooks: createWebhookSender({
      allowedNetworks: notifications.allowed_networks,
      timeoutMs: notifications.timeout_seconds * 1_000,
    }),
    certificateAuthority: createCertificateAuthority(config, metadata, keyRing),
    workspaceTraffic: deps.workspaceTraffic,
    disk: diskForRows(deps),
    config: config.object_store,
    log,
    metrics,
    clock: createSharedClock(deps.replica),
    random: randomBytes,
    s3Endpoint: () => endpoints.s3Endpoint,
    baseUrl: () => endpoints.url,
  });
}

/** The database's time, which all replicas compare leases and grace periods by, whatever their own clocks show. */
function createSharedClock(replica: ReplicaRegistry): Clock {
  return { ...systemClock, now: () => new Date(replica.nowMs()), nowMs: () => replica.nowMs() };
}

/** Null if no authority is configured: TLS is then terminated in front of the platform. */
function createCertificateAuthority(
  config: PlatformConfig,
  metadata: MetadataStore,
  secrets: KeyRing,
): CertificateAuthority | null {
  const { directory_url: directoryUrl, ca_file: caFile, email } = config.object_store.custom_domains.acme;
  if (directoryUrl === undefined) return null;
  const ca = caFile === undefined ? undefined : readFileSync(caFile, 'utf8');
  return createAcmeAuthority({ directoryUrl, ca, email, metadata, secrets, clock: systemClock });
}

async function createSandboxes(
  deps: ServiceModulesDeps,
  buckets: ObjectStoreModule['folders'] | null,
  clusters: ClustersModule | null,
): Promise<ServiceModule<SandboxesState> & SshPart> {
  const { config, log, metrics, access, audit, rights, folder, databases, endpoints, clientOf, quotaLimits } = deps;
  return createSandboxesModule({
    database: databases.main,
    access,
    audit,
    rights,
    quotaLimits,
    traffic: deps.workspaceTraffic,
    log,
    metrics,
    config: config.sandboxes,
    dataFolder: folder.path,
    helperBinaries: deps.helperBinaries,
    forwarding: deps.forwarding,
    clientOf,
    publicUrl: () => endpoints.url,
    secureUrl: () => endpoints.secureUrl,
    node: deps.replica.id,
    nodes: createNodes(deps.replica),
    replicas: () => deps.replica.liveCount,
    installationId: deps.installation.id,
    keyWrapper: deps.keys.local,
    previewKey: () => loadPreviewKey(deps.secrets, folder),
    sshHostKey: (create) => loadSshHostKey(deps.secrets, create),
    disk: config.sandboxes.driver === 'local' ? deps.disk : diskForRows(deps),
    ...(await openArchives(deps)),
    buckets,
    clusters: clusters?.sandboxTunnels ?? null,
    apiKeys: deps.accounts.apiKeys,
    webhooks: createWebhookSender({
      allowedNetworks: config.sandboxes.webhooks.allowed_networks,
      timeoutMs: config.sandboxes.webhooks.timeout_seconds * 1_000,
    }),
  });
}

/**
 * Storage that no bucket reaches: under a prefix of the engine, or in a folder if this replica is the only one. Null if there
 * are replicas that could not share it.
 */
async function openArchives(
  deps: ServiceModulesDeps,
): Promise<{ archives: BlobStore | null; archivesAreShared?: boolean; archivesAreOnDisk?: boolean }> {
  const { config, databases, folder, disk } = deps;
  const { engine, s3 } = config.object_store;
  const hasReplicas = databases.main.dialect === 'postgres';
  if (hasReplicas && engine !== 's3') return { archives: null };
  const root = s3.prefix === '' || s3.prefix.endsWith('/') ? s3.prefix : `${s3.prefix}/`;
  const settings = { ...config.object_store, s3: { ...s3, prefix: `${root}${ARCHIVES_PREFIX}` } };
  const parts = {
    folder: join(folder.path, 'sandboxes', ARCHIVES_FOLDER),
    random: randomBytes,
    clock: systemClock,
    disk,
  };
  return {
    archives: await openBlobStore(settings, parts),
    archivesAreShared: archivesAreShared(databases, config),
    archivesAreOnDisk: engine === 'embedded',
  };
}

/** Whether files of a node are archived for the others. */
export function archivesAreShared(
  { main }: Pick<Databases, 'main'>,
  config: Pick<PlatformConfig, 'sandboxes' | 'object_store'>,
): boolean {
  const hasReplicas = main.dialect === 'postgres' && config.object_store.engine === 's3';
  return hasReplicas && config.sandboxes.archive_snapshots;
}

/** Every replica is a node for sandboxes. */
function createNodes(replicas: ReplicaRegistry): SandboxNodes {
  return {
    live: async () => (await replicas.live()).map(({ id }) => id),
    isLive: async (node) => (await replicas.find(node))?.isLive === true,
    silent: async (silentMs) =>
      (await replicas.list()).filter((each) => !each.isLive && each.silentMs >= silentMs).map(({ id }) => id),
  };
}
