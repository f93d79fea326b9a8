/** The document `public-access-block`. */
export interface PublicAccessBlock {
  /** Rejects new public ACLs. */
  blockPublicAcls: boolean;
  /** Ignores ACL grants to the public. */
  ignorePublicAcls: boolean;
  /** Rejects new public policies. */
  blockPublicPolicy: boolean;
  /** If the policy is public, limits access to the bucket's own workspace. */
  restrictPublicBuckets: boolean;
}

export const NOTHING_BLOCKED: PublicAccessBlock = {
  blockPublicAcls: false,
  ignorePublicAcls: false,
  blockPublicPolicy: false,
  restrictPublicBuckets: false,
};

export function parsePublicAccessBlock(document: string): PublicAccessBlock {
  return JSON.parse(document) as PublicAccessBlock; // written by `JSON.stringify` of the same type
}
