import type { Principal } from '@svc/access';
import type { Caller } from '../authorize/authorize.ts';
import type { ApiToken, ServiceAccount, Session, SshKey, User } from '../records.ts';
import { parseScopes } from '../tokens/service-accounts.ts';

type Person = Pick<User, 'id' | 'name' | 'email' | 'operatorSince'>;

export function userPrincipal(
  user: Person,
  credential: 'session' | 'jwt' | 'oidc' | 'api_token' | 'ssh_key',
  credentialId: string | null,
  facts: { expiresAt?: string | null; confirmedAt?: string; isStartToken?: boolean } = {},
): Principal {
  const { expiresAt = null, confirmedAt, isStartToken = false } = facts;
  return {
    kind: 'user',
    id: user.id,
    name: user.email ?? user.name,
    credential,
    credentialId,
    expiresAt,
    ...(confirmedAt === undefined ? {} : { confirmedAt }),
    ...(isStartToken ? { isStartToken } : {}),
    operator: user.operatorSince !== null,
  };
}

/** Principal of a session, or of the access token that a sign-in returned. */
export function sessionPrincipal(user: User, credential: 'session' | 'jwt', session: Session): Principal {
  return userPrincipal(user, credential, session.id, { confirmedAt: session.confirmedAt });
}

/** Only tokens issued by `svc up` have a purpose. */
export function apiTokenPrincipal(
  user: Person,
  { id, expiresAt, purpose }: Pick<ApiToken, 'id' | 'expiresAt' | 'purpose'>,
): Principal {
  return userPrincipal(user, 'api_token', id, { expiresAt, isStartToken: purpose !== null });
}

export function sshKeyPrincipal(user: User, { id }: SshKey): Principal {
  return userPrincipal(user, 'ssh_key', id);
}

export function guestPrincipal(user: User): Principal {
  const { id, name, expiresAt } = user;
  return { kind: 'guest', id, name, credential: 'guest_jwt', credentialId: null, expiresAt };
}

export function serviceAccountPrincipal(account: ServiceAccount): Principal {
  return {
    kind: 'service_account',
    id: account.id,
    name: account.name,
    credential: 'service_account',
    credentialId: account.id,
    expiresAt: account.expiresAt,
    workspaceUuid: account.workspaceUuid,
    scopes: parseScopes(account),
  };
}

/** The part of a principal that the authorize table needs. */
export function callerOf(principal: Principal): Caller {
  const { kind, id, workspaceUuid, scopes, operator } = principal;
  return {
    kind,
    id,
    ...(workspaceUuid === undefined ? {} : { workspaceUuid }),
    ...(scopes === undefined ? {} : { scopes }),
    // Only a user can be an operator, whatever else the principal claims.
    ...(kind === 'user' && operator === true ? { operator } : {}),
  };
}
