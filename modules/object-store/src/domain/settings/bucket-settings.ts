import { parseMediaType } from '../content/media-type.ts';
import type { BucketConfiguration } from '../bucket-configurations.ts';

/** The document `settings` with defaults applied. */
export interface BucketSettings {
  /** Anyone can read the bucket's objects. */
  publicDefault: boolean;
  /** Sent with objects that have no `Cache-Control` of their own. */
  cacheControl: string | null;
  softDelete: SoftDelete;
  maxObjectSizeBytes: number | null;
  /** Exact types, or `image/*`. */
  allowedContentTypes: readonly string[] | null;
  quota: BucketQuota;
}

export interface SoftDelete {
  enabled: boolean;
  retentionDays: number;
}

export interface BucketQuota {
  maxBytes: number | null;
  maxObjects: number | null;
}

/** The stored form: only differences from the defaults, so that a changed default applies to every bucket. */
export type StoredSettings = Partial<Omit<BucketSettings, 'softDelete' | 'quota'>> & {
  softDelete?: Partial<SoftDelete>;
  quota?: Partial<BucketQuota>;
};

/** `defaultRetentionDays` is the operator's `soft_delete_days`. */
export function readSettings(configuration: BucketConfiguration, defaultRetentionDays: number): BucketSettings {
  const stored = readStoredSettings(configuration);
  return {
    publicDefault: stored.publicDefault ?? false,
    cacheControl: stored.cacheControl ?? null,
    softDelete: { enabled: true, retentionDays: defaultRetentionDays, ...stored.softDelete },
    maxObjectSizeBytes: stored.maxObjectSizeBytes ?? null,
    allowedContentTypes: stored.allowedContentTypes ?? null,
    quota: { maxBytes: null, maxObjects: null, ...stored.quota },
  };
}

export function readStoredSettings(configuration: BucketConfiguration): StoredSettings {
  return configuration.parsed('settings', parseSettings) ?? {};
}

function parseSettings(document: string): StoredSettings {
  return JSON.parse(document) as StoredSettings; // written by the settings service from this type
}

/** Whether the bucket accepts a content type, ignoring parameters. */
export function allowsContentType(settings: Pick<BucketSettings, 'allowedContentTypes'>, contentType: string): boolean {
  if (settings.allowedContentTypes === null) return true;
  const wanted = parseMediaType(contentType)?.essence ?? '';
  return settings.allowedContentTypes.some((allowed) => {
    const pattern = allowed.toLowerCase();
    return pattern === wanted || (pattern.endsWith('/*') && wanted.startsWith(pattern.slice(0, -1)));
  });
}
