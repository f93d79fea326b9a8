export const OBJECT_OWNERSHIPS = ['BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter'] as const;

/**
 * Who owns objects that other workspaces write. Enforced: the bucket's owner, and ACLs have no effect. Preferred: the
 * bucket's owner if the writer sends `bucket-owner-full-control`. Without ownership controls, a bucket works as
 * `ObjectWriter`.
 */
export type ObjectOwnership = (typeof OBJECT_OWNERSHIPS)[number];

/** The document `ownership-controls`. */
export interface OwnershipControls {
  objectOwnership: ObjectOwnership;
}

export function isObjectOwnership(text: string): text is ObjectOwnership {
  return (OBJECT_OWNERSHIPS as readonly string[]).includes(text); // widened for the lookup
}

export function parseOwnershipControls(document: string): OwnershipControls {
  return JSON.parse(document) as OwnershipControls; // written by `JSON.stringify` of the same type
}
