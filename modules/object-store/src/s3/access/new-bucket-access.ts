import { isPrivate } from '../../domain/access/access-control-list.ts';
import { isObjectOwnership, type OwnershipControls } from '../../domain/access/object-ownership.ts';
import type { StoreDeps } from '../../domain/store-deps.ts';
import { storeErrors } from '../../errors.ts';
import type { BucketDocumentName } from '../../domain/ports/records.ts';
import { readAclHeaders, resolveAcl } from './requested-acl.ts';

/** Documents to store with a new bucket. */
export type NewBucketAccess = readonly (readonly [BucketDocumentName, string])[];

/** Reads the documents that the headers of CreateBucket ask for. Throws before the bucket is created. */
export async function readNewBucketAccess(
  header: (name: string) => string | undefined,
  workspaceUuid: string,
  { owners }: Pick<StoreDeps, 'owners'>,
): Promise<NewBucketAccess> {
  const documents: (readonly [BucketDocumentName, string])[] = [];
  const ownership = header('x-amz-object-ownership');
  if (ownership !== undefined) {
    if (!isObjectOwnership(ownership)) {
      throw storeErrors.InvalidArgument({
        details: { reason: `Invalid x-amz-object-ownership header: ${ownership.slice(0, 100)}` },
      });
    }
    const controls: OwnershipControls = { objectOwnership: ownership };
    documents.push(['ownership-controls', JSON.stringify(controls)]);
  }
  const requested = readAclHeaders(header);
  if (requested === null) return documents;
  const acl = await resolveAcl(requested, workspaceUuid, workspaceUuid, owners);
  if (isPrivate(acl)) return documents;
  if (ownership === 'BucketOwnerEnforced') throw storeErrors.InvalidBucketAclWithObjectOwnership();
  return [...documents, ['access-control-list', JSON.stringify(acl)]];
}
