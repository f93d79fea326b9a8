import {
  createCredentialRef,
  type Access,
  type Action,
  type CredentialRef,
  type Grant,
  type Principal,
} from './access.ts';
import { httpErrors } from './errors.ts';
import type { HeldRight } from './held-rights.ts';

/**
 * What a credential was granted, without its secret. Kept by everything that outlives its request: an open stream, a
 * ticket, a link. Safe to store as JSON.
 */
export interface GrantedAccess {
  credential: CredentialRef;
  action: Action;
  /** Null for an action on what is the principal's own. */
  grant: Grant | null;
}

/** `shownAt` is a time before the credential was authenticated. */
export function createGrantedAccess(
  principal: Principal,
  shownAt: Date,
  action: Action,
  grant: Grant | null,
): GrantedAccess {
  return { credential: createCredentialRef(principal, shownAt), action, grant };
}

/** The principal as it is now. Throws the refusal (401, 403, 404) when the same would not be granted any more. */
export async function confirmAccess(access: Access, { credential, action, grant }: GrantedAccess): Promise<Principal> {
  const principal = await access.recheck(credential);
  if (grant === null) {
    await access.permit(principal, action);
    return principal;
  }
  const { workspaceUuid, teamUuid, role } = grant;
  const now = await access.authorize({ principal, action, workspaceUuid, teamUuid: teamUuid ?? undefined });
  // The role went into what was begun, such as the group in which a cluster is asked; a connection cannot change it.
  if (now.role !== role) throw httpErrors.FORBIDDEN({ details: { reason: 'the role has changed' } });
  return principal;
}

/** The right to hold for as long as what was granted is open. */
export function createGrantedRight(access: Access, granted: GrantedAccess, confirmedAtMs: number): HeldRight {
  const { credential, action, grant } = granted;
  const key = JSON.stringify([
    credential.credential,
    credential.principalId,
    credential.credentialId,
    action,
    grant?.workspaceUuid,
    grant?.teamUuid,
    grant?.role,
  ]);
  return {
    key,
    // Only credentials without a record of their own depend on when they were shown.
    exactKey: credential.credentialId === null ? `${key}${credential.shownAt}` : key,
    confirmedAtMs,
    check: async () => void (await confirmAccess(access, granted)),
  };
}

/** A right that also depends on something else, such as a link that is still kept. `name` tells it from others. */
export function narrowRight(right: HeldRight, name: string, alsoCheck: () => Promise<void>): HeldRight {
  return {
    key: `${right.key}${name}`,
    exactKey: `${right.exactKey}${name}`,
    confirmedAtMs: right.confirmedAtMs,
    check: async () => {
      await right.check();
      await alsoCheck();
    },
  };
}
