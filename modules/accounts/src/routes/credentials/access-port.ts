import type { Access } from '@svc/access';
import type { Clock } from '@svc/runtime';
import { authorizeWorkspace, needsConfirmation, permit } from '../../domain/authorize/authorize.ts';
import type { AccountDatabase } from '../../domain/stores.ts';
import type { Authenticator } from './authenticator.ts';
import { assertConfirmed } from '../../domain/access/confirmed.ts';
import { allowedActions } from '../../domain/access/makers.ts';
import { callerOf } from '../../domain/access/principals.ts';

/** The access port used by every other part of the platform. */
export function createAccess(authenticator: Authenticator, database: AccountDatabase, clock: Clock): Access {
  return {
    authenticate: (source) => authenticator.authenticate(source),
    authenticateSshKey: (fingerprint) => authenticator.authenticateSshKey(fingerprint),
    recheck: (ref) => authenticator.recheck(ref),
    authorize: ({ principal, action, workspaceUuid, teamUuid }) =>
      authorizeWorkspace(database, callerOf(principal), action, { workspaceUuid, teamUuid }),
    allowedActions: (request) => allowedActions(database, clock.now(), request),
    permit: async (principal, action) => {
      permit(callerOf(principal), action);
      if (needsConfirmation(action)) assertConfirmed(principal, clock.now());
    },
  };
}
