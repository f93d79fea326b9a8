import { defineErrors } from '@svc/errors';
import type { FakeAccess } from '@svc/testing';
import type { ApiKey, ApiKeys } from '../../src/domain/access/api-keys.ts';

/** The code and status of the real accounts module. */
const errors = defineErrors({ SERVICE_ACCOUNT_NOT_FOUND: [404, 'There is no such service account'] });

/** Keys in memory, which `access` knows as service accounts with the scope `write`. */
export function fakeApiKeys(access: FakeAccess): ApiKeys {
  const keys = new Map<string, { readonly workspaceUuid: string; key: ApiKey; revoke(): void }>();
  const find = (workspaceUuid: string, id: string) => {
    const found = keys.get(id);
    if (found?.workspaceUuid !== workspaceUuid) throw errors.SERVICE_ACCOUNT_NOT_FOUND();
    return found;
  };
  return {
    list: async (workspaceUuid) =>
      [...keys.values()].filter((each) => each.workspaceUuid === workspaceUuid).map(({ key }) => key),
    async create(workspaceUuid, name, { id: createdBy }) {
      const caller = access.serviceAccount(workspaceUuid, ['write']);
      const { id } = caller.principal;
      const key: ApiKey = { id, name, createdBy, createdAt: new Date().toISOString(), lastUsedAt: null };
      keys.set(id, { workspaceUuid, key, revoke: () => access.revoke(caller) });
      return { key, secret: caller.token };
    },
    async rename(workspaceUuid, id, name) {
      const found = find(workspaceUuid, id);
      found.key = { ...found.key, name };
    },
    async revoke(workspaceUuid, id) {
      find(workspaceUuid, id).revoke();
      keys.delete(id);
    },
  };
}
