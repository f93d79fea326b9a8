import type { AclNeed } from '../../domain/access/decide.ts';
import type { StoreAction } from '../../domain/ports/maker-rights.ts';

/** What policies, ACLs and keys are asked about an operation. */
export interface OperationRule {
  /** The action in bucket policies. */
  readonly action: string;
  /** The action where the request names a version; `action` by default. */
  readonly versionAction?: string;
  /**
   * What the question is about. `bucket`: the bucket itself. `key`: a name in it, taken or not. `object`: an object that
   * must exist. `each`: the handler asks for every object of a list.
   */
  readonly asks: 'bucket' | 'key' | 'object' | 'each';
  /** The handler reads the object by `findObject`, which decides, so that nothing is read twice. */
  readonly byHandler?: true;
  /** The permission of an ACL that allows it; without one only the owner and policies do. */
  readonly acl?: AclNeed;
  /** The action of the authorize table that the key, and its creator, must be allowed. */
  readonly needs: StoreAction;
}

/** For everything that reads the bytes of an object: GET and HEAD, the source of a copy, a page of a website. */
export const READ_OBJECT = {
  action: 's3:GetObject',
  versionAction: 's3:GetObjectVersion',
  asks: 'object',
  byHandler: true,
  acl: { on: 'object', permission: 'READ' },
  needs: 'object:read',
} as const satisfies OperationRule;

/** For everything that stores bytes under a name: PUT, copies, parts and forms. */
export const WRITE_OBJECT = {
  action: 's3:PutObject',
  asks: 'key',
  acl: { on: 'bucket', permission: 'WRITE' },
  needs: 'object:write',
} as const satisfies OperationRule;
