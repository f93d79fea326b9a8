import { isVersionId, NULL_VERSION } from '../domain/version-id.ts';

/**
 * The versions of a key are stored newest first: the smaller the order key, the newer. It stands at the start of each
 * version id, so that a version is found by one seek; the rest of the id is random.
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

/** The order key inside, or null for what can never have been a version id of ours. */
export function orderKeyOf(versionId: string): number | null {
  if (versionId === NULL_VERSION || !isVersionId(versionId)) return null;
  return Number.parseInt(versionId.slice(0, DIGITS), RADIX);
}
