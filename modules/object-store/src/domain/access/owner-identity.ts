import { createHash } from 'node:crypto';

/** The owner of a bucket or object, as S3 shows it. Always a workspace. */
export interface Owner {
  /** Canonical user id: 64 hexadecimal digits that never change. */
  id: string;
  /** UUID of the workspace. Its name stays private, since anyone who can list a bucket sees this. */
  displayName: string;
}

/**
 * Builds the id from the workspace's uuid without dashes and as many digits of its hash, so that an id can be validated
 * and mapped to its workspace without a lookup.
 */
export function createOwner(workspaceUuid: string): Owner {
  const digits = workspaceUuid.replaceAll('-', '').toLowerCase();
  return { id: digits + proofOf(digits), displayName: workspaceUuid };
}

/** Null for an invalid id. Does not check that the workspace exists. */
export function workspaceOfOwnerId(id: string): string | null {
  if (!/^[0-9a-f]{64}$/.test(id)) return null;
  const digits = id.slice(0, 32);
  if (proofOf(digits) !== id.slice(32)) return null;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function proofOf(digits: string): string {
  return createHash('sha256').update(`object store owner ${digits}`).digest('hex').slice(0, 32);
}
