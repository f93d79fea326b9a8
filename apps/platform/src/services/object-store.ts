import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrations } from '@svc/migrations';
import {
  createAcmeAuthority,
  createDnsResolver,
  createObjectStoreModule,
  createWebhookSender,
  loadInstallationKey,
  openBlobStore,
  openPostgresMetadataStore,
  openSqliteMetadataStore,
  registerDisabledManagement,
  type CertificateAuthority,
  type KeyRing,
  type MetadataStore,
} from '@svc/object-store';
import type { DataFolder } from '../data-folder.ts';
import type { Databases } from '../databases.ts';
import { diskForRows } from '../disk-reserve.ts';
import { createKeyRing } from '../keys.ts';
import { replicaIdOf } from '../replica-id.ts';
import type { ServiceContext } from './service-context.ts';
import { absentService, absentStates } from './absent.ts';
import { countOf, type ObjectStoreService } from './service.ts';

interface MetadataPlace {
  databases: Databases;
  folder: Pick<DataFolder, 'objectsFolder'>;
}

/** A disabled object store: its routes exist and report that it is off. */
export function disabledObjectStore(reason: string): ObjectStoreService {
  const absent = absentService('object-store', absentStates.object_store, reason);
  return {
    ...absent,
    registerRoutes: registerDisabledManagement,
    handlePublicHost: () => false,
    s3: null,
    sites: null,
  };
}

export async function createObjectStoreService(context: ServiceContext): Promise<ObjectStoreService> {
  const { config, folder, keys, endpoints, log, metrics, directory, access, audit, quotaLimits } = context;
  const { shareOf } = quotaLimits;
  const metadata = await openMetadata(context, shareOf);
  const keyRing = createKeyRing(config, keys, metadata);
  const waited = metrics.histogram('svc_blob_write_wait_seconds', 'Queue time of blob writes');
  const blobs = await openBlobStore(config.object_store, {
    folder: join(folder.objectsFolder, 'blobs'),
    random: randomBytes,
    now: Date.now,
    disk: context.disk,
    shareOf,
    onWriteWaited: (waitedMs) => waited.observe(waitedMs / 1_000),
  });
  const store = await createObjectStoreModule({
    metadata,
    blobs,
    owners: directory,
    rights: access,
    heldRights: context.rights,
    audit,
    clientOf: context.clientOf,
    installationKey: await loadInstallationKey(metadata, keys.local, keys.master.current),
    keyRing,
    quotaLimits,
    domainResolver: createDnsResolver({ servers: config.object_store.custom_domains.resolvers }),
    replicaId: replicaIdOf(folder.path),
    webhooks: createWebhookSender({
      allowedNetworks: config.object_store.notifications.allowed_networks,
      timeoutMs: config.object_store.notifications.timeout_seconds * 1_000,
    }),
    certificateAuthority: certificateAuthority(context, metadata, keyRing),
    workspaceTraffic: context.workspaceTraffic,
    disk: diskForRows(context),
    config: config.object_store,
    log,
    metrics,
    now: Date.now,
    random: randomBytes,
    s3Endpoint: () => endpoints.s3Endpoint,
    baseUrl: () => endpoints.url,
  });
  return {
    name: 'object-store',
    s3: store.s3,
    sites: store.sites,
    registerRoutes: (app) => store.registerRoutes(app),
    handlePublicHost: store.handlePublicHost,
    registerUpgrades: (router) => store.registerUpgrades(router),
    start: async (signal) => store.start(signal),
    close: () => store.close(),
    readiness: () => store.readiness(),
    state: async (workspaceUuid) => ({ enabled: true, reason: null, ...(await store.status(workspaceUuid)) }),
    quotaUsage: (workspaceUuids) => store.quotaUsage(workspaceUuids),
    holdings: async (workspaceUuid) => countOf((await store.status(workspaceUuid)).buckets, 'bucket', 'buckets'),
  };
}

/** Null if no authority is configured: TLS is then terminated in front of the platform. */
function certificateAuthority(
  { config }: ServiceContext,
  metadata: MetadataStore,
  secrets: KeyRing,
): CertificateAuthority | null {
  const { directory_url: directoryUrl, ca_file: caFile, email } = config.object_store.custom_domains.acme;
  if (directoryUrl === undefined) return null;
  const ca = caFile === undefined ? undefined : readFileSync(caFile, 'utf8');
  return createAcmeAuthority({ directoryUrl, ca, email, metadata, secrets, now: Date.now });
}

/** Opens the store's own file, or the shared database. */
export function openMetadata(
  { databases, folder }: MetadataPlace,
  shareOf: (workspaceUuid: string) => string = (workspaceUuid) => workspaceUuid,
): Promise<MetadataStore> {
  const common = { migrations, shareOf };
  if (databases.main.dialect === 'postgres') return openPostgresMetadataStore({ database: databases.main, ...common });
  return openSqliteMetadataStore({ file: join(folder.objectsFolder, 'objects.db'), ...common });
}
