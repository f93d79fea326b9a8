import type { DiskSpace } from '@svc/runtime';
import type { ObjectStoreConfig } from '../../config.ts';
import { storeErrors } from '../../errors.ts';
import type { BlobStore } from '../../domain/ports/blob-store.ts';
import type { MetadataStore } from '../../domain/ports/metadata-store.ts';
import { openEmbeddedBlobStore } from './embedded/blob-store.ts';
import { openS3BlobStore } from './s3/open.ts';

export interface BlobStoreDeps {
  /** Where the embedded engine keeps its files. */
  folder: string;
  random: (size: number) => Buffer;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** The disk of the folder, without its reserve; unlimited by default. */
  disk?: DiskSpace;
  /** Workspaces with the same share take turns as one; by default each has its own. */
  shareOf?: (workspaceUuid: string) => string;
  /** Told how long each write of a blob waited for its turn. */
  onWriteWaited?: (waitedMs: number) => void;
}

const PART_BYTES = 8 * 1024 * 1024;

/** The engine that the configuration names. `EngineNotConfigured` where something that it needs is not said. */
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
    now: deps.now,
  });
}

const ENGINE_PROPERTY = 'engine';

/**
 * Rows and blobs belong together: a store whose blobs are elsewhere would take all of them for lost. The first start
 * notes the engine, and a start on another one is refused with `EngineChanged` as soon as there are blobs.
 */
export async function claimEngine(
  metadata: Pick<MetadataStore, 'storeProperty' | 'setStoreProperty' | 'blobsToVerify'>,
  config: ObjectStoreConfig,
): Promise<void> {
  const wanted = engineName(config);
  const found = await metadata.storeProperty({ name: ENGINE_PROPERTY });
  if (found === wanted) return;
  const blobs = found === null ? [] : await metadata.blobsToVerify({ beforeMs: Number.MAX_SAFE_INTEGER, limit: 1 });
  if (blobs.length > 0) throw storeErrors.EngineChanged({ details: { found, wanted } });
  await setEngine(metadata, config);
}

/** After all blobs were brought to the engine that is configured. */
export async function setEngine(
  metadata: Pick<MetadataStore, 'setStoreProperty'>,
  config: ObjectStoreConfig,
): Promise<void> {
  await metadata.setStoreProperty({ name: ENGINE_PROPERTY, value: engineName(config) });
}

/** The endpoint is no part of it: the same engine may be reached under another name. */
function engineName({ engine, s3 }: ObjectStoreConfig): string {
  return engine === 'embedded' ? 'embedded' : `s3:${s3.bucket ?? ''}/${s3.prefix}`;
}
