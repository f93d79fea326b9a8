import { storeErrors } from '../../errors.ts';
import type { BucketRecord } from '../ports/records.ts';
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

export interface Visibility {
  isPublic: boolean;
  /** Whether the caller may configure the bucket, which making an object public needs. */
  mayPublish: boolean;
}

/**
 * The list of an object of the bucket's own workspace, as `ObjectAttributes` keep it. Throws `AccessDenied` where the
 * caller may not publish, and this or `AccessControlListNotSupported` where the bucket does not let its objects be public.
 */
export function visibilityAttributes(
  { isPublic, mayPublish }: Visibility,
  bucket: BucketRecord,
  { ownership, block }: BucketAccess,
): { accessControlList?: string } {
  if (!isPublic) return {};
  if (!mayPublish) {
    const reason = 'Only those who may configure the bucket make its objects public';
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
