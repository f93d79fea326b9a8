/** The document `public-access-block`. */
export interface PublicAccessBlock {
  /** Refuses new ACLs that are public. */
  blockPublicAcls: boolean;
  /** Treats what ACLs grant to the public as not granted. */
  ignorePublicAcls: boolean;
  /** Refuses new policies that are public. */
  blockPublicPolicy: boolean;
  /** With a public policy, lets only the bucket's own workspace in. */
  restrictPublicBuckets: boolean;
}

export const NOTHING_BLOCKED: PublicAccessBlock = {
  blockPublicAcls: false,
  ignorePublicAcls: false,
  blockPublicPolicy: false,
  restrictPublicBuckets: false,
};

export function parsePublicAccessBlock(document: string): PublicAccessBlock {
  return JSON.parse(document) as PublicAccessBlock; // written by `JSON.stringify` of the same shape
}
