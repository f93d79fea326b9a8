import type { AclNeed } from '../../domain/access/decide.ts';
import type { PolicyAction } from '../../domain/access/policy/known-actions.ts';
import type { StoreAction } from '../../domain/ports/maker-rights.ts';

/** What authorization needs to know about an operation: its action, its ACL permission and the right of the key. */
export interface OperationRule {
  /** Action in bucket policies. */
  readonly action: PolicyAction;
  /** Action if the request names a version. Defaults to `action`. */
  readonly versionAction?: PolicyAction;
  /**
   * What the check is about. `bucket`: the bucket itself. `key`: a name in it, existing or not. `object`: an object
   * that must exist. `each`: the handler checks every object of a list.
   */
  readonly asks: 'bucket' | 'key' | 'object' | 'each';
  /** The handler reads the object with `findObject`, which authorizes, so that nothing is read twice. */
  readonly byHandler?: true;
  /** ACL permission that allows the operation. Without one, only the owner and policies can allow it. */
  readonly acl?: AclNeed;
  /** Action of the authorize table that the key and its creator must be allowed. */
  readonly needs: StoreAction;
}

/** Rule for everything that reads the bytes of an object: GET, HEAD, the source of a copy, a page of a website. */
export const READ_OBJECT = {
  action: 's3:GetObject',
  versionAction: 's3:GetObjectVersion',
  asks: 'object',
  byHandler: true,
  acl: { on: 'object', permission: 'READ' },
  needs: 'object:read',
} as const satisfies OperationRule;

/** Rule for everything that stores bytes under a key: PUT, copies, parts and forms. */
export const WRITE_OBJECT = {
  action: 's3:PutObject',
  asks: 'key',
  acl: { on: 'bucket', permission: 'WRITE' },
  needs: 'object:write',
} as const satisfies OperationRule;
