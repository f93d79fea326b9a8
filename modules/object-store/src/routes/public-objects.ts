import { readBucketAccess } from '../domain/access/bucket-access.ts';
import { mayReadAnonymously } from '../domain/access/public-read.ts';
import { watchStranger } from '../domain/access/watch-stranger.ts';
import type { ContentReader } from '../domain/content/content-headers.ts';
import { assertObjectKey } from '../domain/object-key.ts';
import type { StoreServices } from '../domain/services.ts';
import { readSettings } from '../domain/settings/bucket-settings.ts';
import { storeErrors } from '../errors.ts';
import { admitRequest } from '../domain/admission.ts';
import type { FoundObject } from '../domain/ports/objects.ts';
import type { BucketRecord } from '../domain/ports/records.ts';
import { sendObject, type ObjectExchange } from './objects/send-object.ts';

/** Makes caches revalidate before each use, so that an object made private disappears from them. */
const DEFAULT_CACHE_CONTROL = 'public, no-cache';

export interface PublicObject {
  readonly bucket: BucketRecord;
  readonly found: FoundObject;
  /** The bucket's default, for objects without their own. */
  readonly cacheControl: string | null;
}

/** Throws the same `NoSuchKey` for an unknown bucket, another tenant's bucket, an unknown key and a private object. */
export async function findPublicObject(
  { deps, configurations, objects }: StoreServices,
  { bucketName, tenantId, key }: { bucketName: string; tenantId?: string; key: string },
): Promise<PublicObject> {
  const absent = (): Error => storeErrors.NoSuchKey({ details: { resource: null } });
  const bucket = await deps.metadata.findBucket({ name: bucketName });
  if (bucket === null || (tenantId !== undefined && bucket.workspaceUuid !== tenantId)) throw absent();
  await admitRequest({ deps }, bucket.workspaceUuid, true);
  const configuration = await configurations.of(bucket);
  const found = await objects.find({ bucket, key }).catch((error: unknown) => {
    throw isNoSuchKey(error) ? absent() : error;
  });
  const access = readBucketAccess(bucket, configuration);
  if (!mayReadAnonymously({ bucket, access, version: found.version })) throw absent();
  return { bucket, found, cacheControl: readSettings(configuration, deps.config.soft_delete_days).cacheControl };
}

export async function sendPublicObject(
  services: StoreServices,
  exchange: ObjectExchange,
  { bucket, found, cacheControl }: PublicObject,
  reader: ContentReader,
): Promise<void> {
  const own = found.version.attributes.headers ?? {};
  const endWatch = watchStranger(services.strangers, {
    decide: () => assertStillPublic(services, bucket, found.version.key),
    end: () => void exchange.response.destroy(),
  });
  try {
    await sendObject(services, exchange, {
      bucket,
      found,
      headers: { 'cache-control': own['cache-control'] ?? cacheControl ?? DEFAULT_CACHE_CONTROL },
      view: { reader, disposition: 'inline', embedders: 'cross-origin' },
    });
  } finally {
    endWatch();
  }
}

async function assertStillPublic(
  { deps, configurations, objects }: StoreServices,
  { id, name }: BucketRecord,
  key: string,
): Promise<void> {
  const bucket = await deps.metadata.findBucket({ name });
  if (bucket?.id !== id) throw storeErrors.AccessDenied();
  const { version } = await objects.find({ bucket, key });
  const access = readBucketAccess(bucket, await configurations.of(bucket));
  if (!mayReadAnonymously({ bucket, access, version })) throw storeErrors.AccessDenied();
}

/** Decodes the key at the end of a raw path. */
export function decodePublicKey(raw: string): string {
  let key: string;
  try {
    key = decodeURIComponent(raw);
  } catch {
    throw storeErrors.InvalidURI();
  }
  if (key === '') throw storeErrors.NoSuchKey({ details: { resource: null } });
  assertObjectKey(key);
  return key;
}

function isNoSuchKey(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'NoSuchKey'; // unvalidated; only compared
}
