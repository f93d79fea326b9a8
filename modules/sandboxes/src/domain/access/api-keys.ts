import type { Principal } from '@svc/access';

/** A key without its secret. Times are ISO 8601 in UTC. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** ID of a user or service account. */
  readonly createdBy: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

/** Port to the keys of a workspace. The caller has authorized the action. */
export interface ApiKeys {
  /** Every key of the workspace, oldest first. */
  list(workspaceUuid: string): Promise<readonly ApiKey[]>;
  /** Only this call returns the secret. The key gets no right and no lifetime beyond those of its creator. */
  create(workspaceUuid: string, name: string, principal: Principal): Promise<{ key: ApiKey; secret: string }>;
  /** Throws an `AppError` with status 404 if the workspace has no such key. */
  rename(workspaceUuid: string, id: string, name: string): Promise<void>;
  /** Takes effect with the next request. Throws an `AppError` with status 404 if the workspace has no such key. */
  revoke(workspaceUuid: string, id: string): Promise<void>;
}
