import type { BucketRecord } from '../ports/records.ts';
import type { BucketConfiguration } from '../bucket-configurations.ts';
import { parseAcl, privateAcl, type AccessControlList } from './access-control-list.ts';
import { parseOwnershipControls, type ObjectOwnership } from './object-ownership.ts';
import { parsePolicy } from './policy/parse-policy.ts';
import type { BucketPolicy } from './policy/policy.ts';
import { NOTHING_BLOCKED, parsePublicAccessBlock, type PublicAccessBlock } from './public-access-block.ts';

/** Everything about a bucket that decides access to it. */
export interface BucketAccess {
  readonly acl: AccessControlList;
  readonly policy: BucketPolicy | null;
  readonly block: PublicAccessBlock;
  /** Null if the bucket has no ownership controls. */
  readonly ownership: ObjectOwnership | null;
  /** The bucket's setting that makes its objects publicly readable. */
  readonly publicDefault: boolean;
}

/** Parsed once per version of the bucket's documents. */
export function readBucketAccess(bucket: BucketRecord, configuration: BucketConfiguration): BucketAccess {
  if (bucket.configurationVersion === 0) return untouched(bucket);
  return configuration.derived('access', () => {
    const policy = configuration.text('policy');
    const block = configuration.text('public-access-block');
    const acl = configuration.text('access-control-list');
    const ownership = configuration.text('ownership-controls');
    return {
      acl: acl === null ? privateAcl(bucket.workspaceUuid) : parseAcl(acl),
      policy: policy === null ? null : parsePolicy(policy, bucket.name),
      block: block === null ? NOTHING_BLOCKED : parsePublicAccessBlock(block),
      ownership: ownership === null ? null : parseOwnershipControls(ownership).objectOwnership,
      publicDefault: isPublicByDefault(configuration.text('settings')),
    };
  });
}

function untouched({ workspaceUuid }: BucketRecord): BucketAccess {
  const acl = privateAcl(workspaceUuid);
  return { acl, policy: null, block: NOTHING_BLOCKED, ownership: null, publicDefault: false };
}

function isPublicByDefault(settings: string | null): boolean {
  if (settings === null) return false;
  const { publicDefault } = JSON.parse(settings) as { publicDefault?: unknown }; // only inspected
  return publicDefault === true;
}
