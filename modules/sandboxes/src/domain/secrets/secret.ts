import type { KeyWrapper, WrappedKey } from '@svc/keys';
import type { Limits } from '@svc/quotas';

/** A secret of a workspace, without its value. Times are ISO 8601 UTC with milliseconds. */
export interface Secret {
  readonly id: string;
  readonly workspaceUuid: string;
  readonly name: string;
  /** Counts the values that it has had. */
  readonly version: number;
  readonly creatorId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Like environment variables, with `.` and `-`. */
export const SECRET_NAME_PATTERN = '^[A-Za-z_][A-Za-z0-9_.-]{0,127}$';

/** Fits into a header (RFC 9110, section 5.5), and within what servers accept. */
export const SECRET_VALUE_PATTERN = '^[\\t -~]{1,8192}$';

/** A secret and its sealed value. */
export interface SealedSecret {
  readonly secret: Secret;
  readonly sealed: WrappedKey;
}

/** Seals values under the master key. */
export type Sealer = Pick<KeyWrapper, 'wrap' | 'unwrap'>;

/** Binds a sealed value to its secret. */
export function secretContext(id: string): string {
  return `workspace-secret:${id}`;
}

/** Stores secrets. Values are sealed. */
export interface SecretRepository {
  /** Checks the quota and the name in one transaction. Throws QUOTA_EXCEEDED and SECRET_EXISTS. */
  insert(secret: SealedSecret, limits: Limits): Promise<void>;
  /** Ordered by name. */
  list(workspaceUuid: string): Promise<readonly Secret[]>;
  find(workspaceUuid: string, name: string): Promise<Secret | null>;
  /** The secrets with these names, and their values. */
  sealed(workspaceUuid: string, names: readonly string[]): Promise<readonly SealedSecret[]>;
  /** Current versions by id of the secrets with these names in these workspaces. */
  versions(workspaceUuids: readonly string[], names: readonly string[]): Promise<readonly Secret[]>;
  /** Replaces the value if the secret still exists. */
  replace(id: string, sealed: WrappedKey, updatedAt: string): Promise<Secret | null>;
  remove(workspaceUuid: string, name: string): Promise<boolean>;
  count(workspaceUuid: string): Promise<number>;
}
