import { storeErrors } from '../../errors.ts';
import type { BucketRecord } from '../ports/records.ts';
import { cannedAcl, parseAcl } from './access-control-list.ts';
import type { BucketAccess } from './bucket-access.ts';

/** Whether an object's ACL lets anyone read it. Does not check whether the bucket honors ACLs. */
export function isPublicRead(accessControlList: string | undefined): boolean {
  if (accessControlList === undefined) return false;
  return parseAcl(accessControlList).grants.some(
    ({ grantee, permission }) =>
      'group' in grantee && grantee.group === 'all-users' && (permission === 'READ' || permission === 'FULL_CONTROL'),
  );
}

export interface Visibility {
  isPublic: boolean;
  /** Whether the caller may configure the bucket, which publishing an object requires. */
  mayPublish: boolean;
}

/**
 * The ACL attribute of an object in the bucket's own workspace. Throws `AccessDenied` if the caller may not publish,
 * and `AccessDenied` or `AccessControlListNotSupported` if the bucket does not allow public objects.
 */
export function visibilityAttributes(
  { isPublic, mayPublish }: Visibility,
  bucket: BucketRecord,
  { ownership, block }: BucketAccess,
): { accessControlList?: string } {
  if (!isPublic) return {};
  if (!mayPublish) {
    const reason = 'Making an object public requires permission to configure the bucket';
    throw storeErrors.AccessDenied({ details: { field: 'public', reason } });
  }
  if (ownership === 'BucketOwnerEnforced') throw storeErrors.AccessControlListNotSupported();
  if (block.blockPublicAcls) {
    const reason = 'Public ACLs are blocked by the public access block of the bucket';
    throw storeErrors.AccessDenied({ details: { field: 'public', reason } });
  }
  const owner = bucket.workspaceUuid;
  return { accessControlList: JSON.stringify(cannedAcl('public-read', owner, owner)) };
}
