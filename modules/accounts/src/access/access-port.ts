import type { Access } from '@svc/http';
import { authorizeWorkspace, permit } from '../authorize/authorize.ts';
import type { AccountDatabase } from '../stores.ts';
import type { Authenticator } from './authenticator.ts';
import { callerOf } from './principals.ts';

/** What every other part of the platform asks. */
export function createAccess(authenticator: Authenticator, database: AccountDatabase): Access {
  return {
    authenticate: (source) => authenticator.authenticate(source),
    authorize: ({ principal, action, workspaceUuid, teamUuid }) =>
      authorizeWorkspace(database, callerOf(principal), action, { workspaceUuid, teamUuid }),
    permit: async (principal, action) => permit(callerOf(principal), action),
  };
}
