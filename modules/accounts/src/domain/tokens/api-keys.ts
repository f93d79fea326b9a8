import type { Principal } from '@svc/access';
import type { ServiceAccount } from '../records.ts';
import { boundsOf, type ServiceAccounts } from './service-accounts.ts';

/** A key without its secret. Times are ISO 8601 in UTC. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** ID of a user or service account. */
  readonly createdBy: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

/** The service accounts of a workspace, as E2B clients manage them. The caller has authorized the action. */
export interface ApiKeys {
  /** Every service account of the workspace, oldest first. */
  list(workspaceUuid: string): Promise<readonly ApiKey[]>;
  /** Creates a key that may change things but grant nothing. Only this call returns the secret. */
  create(workspaceUuid: string, name: string, principal: Principal): Promise<{ key: ApiKey; secret: string }>;
  /** Throws SERVICE_ACCOUNT_NOT_FOUND. */
  rename(workspaceUuid: string, id: string, name: string): Promise<void>;
  /** Takes effect with the next request. Throws SERVICE_ACCOUNT_NOT_FOUND. */
  revoke(workspaceUuid: string, id: string): Promise<void>;
}

export function createApiKeys(accounts: ServiceAccounts): ApiKeys {
  return {
    list: async (workspaceUuid) => (await accounts.all(workspaceUuid)).map(keyOf),
    async create(workspaceUuid, name, principal) {
      const wanted = { workspaceUuid, name, scopes: ['write'], tokenFormat: 'e2b' } as const;
      const { account, secret } = await accounts.create({ ...wanted, ...boundsOf(principal) });
      return { key: keyOf(account), secret };
    },
    rename: (workspaceUuid, id, name) => accounts.rename(workspaceUuid, id, name),
    revoke: (workspaceUuid, id) => accounts.revoke(workspaceUuid, id),
  };
}

function keyOf({ id, name, createdBy, createdAt, lastUsedAt }: ServiceAccount): ApiKey {
  return { id, name, createdBy, createdAt, lastUsedAt };
}
