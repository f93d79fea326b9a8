import { storeErrors } from '../../errors.ts';
import type { BucketRecord } from '../../ports/records.ts';
import { cannedAcl, parseAcl } from './access-control-list.ts';
import type { BucketAccess } from './bucket-access.ts';

/** Whether the list of an object lets anybody read it; whether the bucket lets lists count is another question. */
export function isPublicRead(accessControlList: string | undefined): boolean {
  if (accessControlList === undefined) return false;
  return parseAcl(accessControlList).grants.some(
    ({ grantee, permission }) =>
      'group' in grantee && grantee.group === 'all-users' && (permission === 'READ' || permission === 'FULL_CONTROL'),
  );
}

/**
 * The list of an object of the bucket's own workspace, as `ObjectAttributes` keep it. Throws
 * `AccessControlListNotSupported` and `AccessDenied` where the bucket does not let its objects be made public.
 */
export function visibilityAttributes(
  isPublic: boolean,
  bucket: BucketRecord,
  { ownership, block }: BucketAccess,
): { accessControlList?: string } {
  if (!isPublic) return {};
  if (ownership === 'BucketOwnerEnforced') throw storeErrors.AccessControlListNotSupported();
  if (block.blockPublicAcls) {
    const reason = 'Public ACLs are blocked by the public access block of the bucket';
    throw storeErrors.AccessDenied({ details: { field: 'public', reason } });
  }
  const owner = bucket.workspaceUuid;
  return { accessControlList: JSON.stringify(cannedAcl('public-read', owner, owner)) };
}
