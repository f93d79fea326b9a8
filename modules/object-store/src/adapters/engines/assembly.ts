import type { Clock, DiskSpace } from '@svc/runtime';
import type { ObjectStoreConfig } from '../../config.ts';
import { storeErrors } from '../../errors.ts';
import type { BlobStore } from '../../domain/ports/blob-store.ts';
import type { MetadataStore } from '../../domain/ports/metadata-store.ts';
import { openEmbeddedBlobStore } from './embedded/blob-store.ts';
import { openS3BlobStore } from './s3/open.ts';

export interface BlobStoreDeps {
  /** Folder of the embedded engine's files. */
  folder: string;
  random: (size: number) => Buffer;
  clock: Clock;
  /** Free space on the folder's disk, minus its reserve. Unlimited by default. */
  disk?: DiskSpace;
  /** Workspaces with the same share take turns as one. By default each workspace has its own share. */
  shareOf?: (workspaceUuid: string) => string;
  /** Called with the time each blob write waited for its turn. */
  onWriteWaited?: (waitedMs: number) => void;
}

const PART_BYTES = 8 * 1024 * 1024;

/** Opens the configured engine. Throws `EngineNotConfigured` when a required setting is missing. */
export async function openBlobStore(config: ObjectStoreConfig, deps: BlobStoreDeps): Promise<BlobStore> {
  if (config.engine === 'embedded') return await openEmbeddedBlobStore(deps);
  const { s3 } = config;
  const { bucket, access_key_id: accessKeyId, secret_access_key: secretAccessKey } = s3;
  if (bucket === undefined) throw storeErrors.EngineNotConfigured({ details: { name: 'bucket' } });
  if (accessKeyId === undefined) throw storeErrors.EngineNotConfigured({ details: { name: 'access_key_id' } });
  if (secretAccessKey === undefined) throw storeErrors.EngineNotConfigured({ details: { name: 'secret_access_key' } });
  return await openS3BlobStore({
    endpoint: s3.endpoint,
    region: s3.region,
    bucket,
    prefix: s3.prefix,
    accessKeyId,
    secretAccessKey,
    pathStyle: s3.path_style,
    connectTimeoutMs: s3.connect_timeout_seconds * 1_000,
    requestTimeoutMs: s3.request_timeout_seconds * 1_000,
    maxAttempts: s3.attempts,
    maxConnections: s3.connections,
    uploadMemoryBytes: s3.upload_memory_bytes,
    partBytes: PART_BYTES,
    random: deps.random,
    clock: deps.clock,
  });
}

const ENGINE_PROPERTY = 'engine';
const FOLDER_PROPERTY = 'embedded-folder';

/**
 * Rows and blobs belong together: on another engine, the store would treat every blob as lost. The first start records
 * the engine; starting on a different one fails with `EngineChanged` once blobs exist. Another folder of the embedded
 * engine, such as that of a second replica, fails with `EngineElsewhere`.
 */
export async function claimEngine(
  metadata: Pick<MetadataStore, 'storeProperty' | 'setStoreProperty' | 'claimStoreProperty' | 'blobsToVerify'>,
  config: ObjectStoreConfig,
  blobs: Pick<BlobStore, 'folderId'>,
): Promise<void> {
  const wanted = engineName(config);
  const found = await metadata.storeProperty({ name: ENGINE_PROPERTY });
  if (found !== wanted) {
    const stored = found === null ? [] : await metadata.blobsToVerify({ beforeMs: Number.MAX_SAFE_INTEGER, limit: 1 });
    if (stored.length > 0) throw storeErrors.EngineChanged({ details: { found, wanted } });
    // Of replicas that start at once, only one may claim the folder below.
    if (found === null) await metadata.setStoreProperty({ name: ENGINE_PROPERTY, value: wanted });
    else await setEngine(metadata, config, blobs);
  }
  const folderId = await blobs.folderId();
  if (folderId === null) return;
  const claimed = await metadata.claimStoreProperty({ name: FOLDER_PROPERTY, value: folderId });
  if (claimed !== folderId) throw storeErrors.EngineElsewhere({ details: { folder: claimed, found: folderId } });
}

/** Records the configured engine and its folder. Call it once all blobs have been moved there. */
export async function setEngine(
  metadata: Pick<MetadataStore, 'setStoreProperty'>,
  config: ObjectStoreConfig,
  blobs: Pick<BlobStore, 'folderId'>,
): Promise<void> {
  await metadata.setStoreProperty({ name: ENGINE_PROPERTY, value: engineName(config) });
  const folderId = await blobs.folderId();
  if (folderId !== null) await metadata.setStoreProperty({ name: FOLDER_PROPERTY, value: folderId });
}

/** Leaves out the endpoint: the same engine may be reachable under several names. */
function engineName({ engine, s3 }: ObjectStoreConfig): string {
  return engine === 'embedded' ? 'embedded' : `s3:${s3.bucket ?? ''}/${s3.prefix}`;
}
