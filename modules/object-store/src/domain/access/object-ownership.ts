export const OBJECT_OWNERSHIPS = ['BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter'] as const;

/**
 * Who owns what others write. Enforced: the bucket's owner, and ACLs mean nothing. Preferred: the bucket's owner when the
 * writer says `bucket-owner-full-control`. A bucket that was told nothing works as `ObjectWriter`.
 */
export type ObjectOwnership = (typeof OBJECT_OWNERSHIPS)[number];

/** The document `ownership-controls`. */
export interface OwnershipControls {
  objectOwnership: ObjectOwnership;
}

export function isObjectOwnership(text: string): text is ObjectOwnership {
  return (OBJECT_OWNERSHIPS as readonly string[]).includes(text); // widened only to be asked
}

export function parseOwnershipControls(document: string): OwnershipControls {
  return JSON.parse(document) as OwnershipControls; // written by `JSON.stringify` of the same shape
}
