import { isVersionId, NULL_VERSION } from '../domain/version-id.ts';

/**
 * Versions of a key are stored newest first: a smaller order key is newer. Version ids start with it, so that one seek
 * finds a version; the rest of the id is random.
 */
const NEWEST_POSSIBLE = 9_000_000_000_000_000;
const DIGITS = 11;
const RADIX = 36;

export function orderKeyAt(nowMs: number): number {
  return NEWEST_POSSIBLE - nowMs * 1_000;
}

export function versionIdFor(orderKey: number, token: string): string {
  return orderKey.toString(RADIX).padStart(DIGITS, '0') + token;
}

/** The order key in a version id. Null for text that cannot be one. */
export function parseOrderKey(versionId: string): number | null {
  if (versionId === NULL_VERSION || !isVersionId(versionId)) return null;
  return Number.parseInt(versionId.slice(0, DIGITS), RADIX);
}
