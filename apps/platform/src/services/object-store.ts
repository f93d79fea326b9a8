import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { ListenerOptions } from '@svc/http';
import { migrations } from '@svc/migrations';
import {
  createObjectStoreModule,
  loadMasterKey,
  openBlobStore,
  openPostgresMetadataStore,
  openSqliteMetadataStore,
  type MetadataStore,
} from '@svc/object-store';
import type { ServiceStates } from '../http/status-routes.ts';
import type { ServiceContext } from './create-services.ts';
import { countOf, type Service } from './service.ts';

export interface ObjectStoreService extends Service<ServiceStates['object_store']> {
  /** For the listener of the S3 data plane; null where the service is off. */
  readonly s3: Pick<ListenerOptions, 'handler' | 'configure'> | null;
}

export async function createObjectStoreService(context: ServiceContext): Promise<ObjectStoreService> {
  const { config, folder, endpoints, log, metrics, directory } = context;
  const masterKey = await loadMasterKey({
    configured: config.object_store.master_key,
    file: join(folder.keysFolder, 'master.key'),
    random: randomBytes,
  });
  const metadata = await openMetadata(context);
  const blobs = await openBlobStore(config.object_store, {
    folder: join(folder.objectsFolder, 'blobs'),
    random: randomBytes,
    now: Date.now,
  });
  const store = await createObjectStoreModule({
    metadata,
    blobs,
    owners: directory,
    masterKey,
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
    registerRoutes: (app) => store.registerRoutes(app),
    registerUpgrades: () => undefined,
    start: async (signal) => store.start(signal),
    close: () => store.close(),
    readiness: () => store.readiness(),
    state: async (workspaceUuid) => ({ enabled: true, reason: null, ...(await store.status(workspaceUuid)) }),
    holdings: async (workspaceUuid) => countOf((await store.status(workspaceUuid)).buckets, 'bucket', 'buckets'),
  };
}

function openMetadata({ databases, folder }: ServiceContext): Promise<MetadataStore> {
  if (databases.main.dialect === 'postgres') return openPostgresMetadataStore({ database: databases.main, migrations });
  return openSqliteMetadataStore({ file: join(folder.objectsFolder, 'objects.db'), migrations });
}
