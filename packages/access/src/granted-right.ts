import {
  createCredentialRef,
  type Access,
  type Action,
  type CredentialRef,
  type Grant,
  type Principal,
} from './access.ts';
import { accessErrors } from './errors.ts';
import type { HeldRight } from './held-rights.ts';

/**
 * The access granted to a credential, without its secret. Everything that outlives its request keeps one: an open
 * stream, a ticket, a link. Safe to store as JSON.
 */
export interface GrantedAccess {
  credential: CredentialRef;
  action: Action;
  /** Null for actions on the principal's own account. */
  grant: Grant | null;
}

/** Creates the record of granted access. `shownAt` must precede authentication of the credential. */
export function createGrantedAccess(
  principal: Principal,
  shownAt: Date,
  action: Action,
  grant: Grant | null,
): GrantedAccess {
  return { credential: createCredentialRef(principal, shownAt), action, grant };
}

/** Returns the current principal. Throws 401, 403 or 404 if the same access would no longer be granted. */
export async function confirmAccess(access: Access, { credential, action, grant }: GrantedAccess): Promise<Principal> {
  const principal = await access.recheck(credential);
  if (grant === null) {
    await access.permit(principal, action);
    return principal;
  }
  const { workspaceUuid, teamUuid, role } = grant;
  const now = await access.authorize({ principal, action, workspaceUuid, teamUuid: teamUuid ?? undefined });
  // An open connection depends on the role, such as the impersonated group in a cluster, and cannot change it.
  if (now.role !== role) throw accessErrors.FORBIDDEN({ details: { reason: 'the role has changed' } });
  return principal;
}

/** Creates the right to hold while the granted resource is in use. */
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
    // Only credentials without their own record depend on when they were presented.
    exactKey: credential.credentialId === null ? `${key}${credential.shownAt}` : key,
    confirmedAtMs,
    check: async () => void (await confirmAccess(access, granted)),
  };
}

/** Adds another condition to a right, such as the existence of a link. `name` distinguishes it from other rights. */
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
