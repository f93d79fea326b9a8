import type { Access } from '@svc/http';
import { authorizeWorkspace, needsConfirmation, permit } from '../authorize/authorize.ts';
import type { Effects } from '../effects.ts';
import type { AccountDatabase } from '../stores.ts';
import type { Authenticator } from './authenticator.ts';
import { assertConfirmed } from './confirmed.ts';
import { allowedActions } from './makers.ts';
import { callerOf } from './principals.ts';

/** What every other part of the platform asks. */
export function createAccess(authenticator: Authenticator, database: AccountDatabase, effects: Effects): Access {
  return {
    authenticate: (source) => authenticator.authenticate(source),
    recheck: (ref) => authenticator.recheck(ref),
    authorize: ({ principal, action, workspaceUuid, teamUuid }) =>
      authorizeWorkspace(database, callerOf(principal), action, { workspaceUuid, teamUuid }),
    allowedActions: (request) => allowedActions(database, effects.now(), request),
    permit: async (principal, action) => {
      permit(callerOf(principal), action);
      if (needsConfirmation(action)) assertConfirmed(principal, effects.now());
    },
  };
}
