import { createHash } from 'node:crypto';

/** Who a bucket or an object belongs to, as S3 shows it: always a workspace. */
export interface Owner {
  /** The canonical user id: 64 hexadecimal digits, the same for ever. */
  id: string;
  /** The uuid of the workspace. Its name is not told: anybody who may list a bucket sees this. */
  displayName: string;
}

/**
 * The workspace's uuid without its dashes, then as many digits of its hash. So an id is known to be one of ours without
 * asking anybody, and says which workspace it is.
 */
export function ownerOf(workspaceUuid: string): Owner {
  const digits = workspaceUuid.replaceAll('-', '').toLowerCase();
  return { id: digits + proofOf(digits), displayName: workspaceUuid };
}

/** Null for what cannot be the id of a workspace. Whether there is such a workspace, the directory knows. */
export function workspaceOfOwnerId(id: string): string | null {
  if (!/^[0-9a-f]{64}$/.test(id)) return null;
  const digits = id.slice(0, 32);
  if (proofOf(digits) !== id.slice(32)) return null;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function proofOf(digits: string): string {
  return createHash('sha256').update(`object store owner ${digits}`).digest('hex').slice(0, 32);
}
