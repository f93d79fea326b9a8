import type { CredentialRef, CredentialSource, Principal } from '@svc/access';
import type { Clock } from '@svc/runtime';
import { decodeJwt } from 'jose';
import { timestamp } from '../../domain/timestamps.ts';
import { accountErrors } from '../../errors.ts';
import { type AccessJwt, isJoseError } from '../../domain/jwt/access-jwt.ts';
import type { ExternalUsers } from '../../adapters/oidc/external-users.ts';
import type { TrustedIssuers } from '../../adapters/oidc/trusted-issuers.ts';
import { csrfTokenMatches, type Sessions } from '../../domain/sign-in/sessions.ts';
import type { SshKey } from '../../domain/records.ts';
import type { AccountDatabase } from '../../domain/stores.ts';
import { isExpired, isUseDue } from '../../domain/tokens/lifetime.ts';
import { E2B_KEY_PREFIX, hashToken } from '../../domain/tokens/random-token.ts';
import {
  apiTokenPrincipal,
  guestPrincipal,
  serviceAccountPrincipal,
  sessionPrincipal,
  sshKeyPrincipal,
  userPrincipal,
} from '../../domain/access/principals.ts';
import { shownCredential } from './shown-credential.ts';

export interface AuthenticatorDeps {
  database: AccountDatabase;
  clock: Clock;
  sessions: Sessions;
  jwt: AccessJwt;
  issuers: TrustedIssuers;
  externalUsers: ExternalUsers;
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Authenticates callers. Every request looks its credential up, so a revoked one stops working with the next request.
 * All failures are the same 401, whether a token is unknown, expired or revoked.
 */
export class Authenticator {
  readonly #deps: AuthenticatorDeps;

  constructor(deps: AuthenticatorDeps) {
    this.#deps = deps;
  }

  async authenticate(source: CredentialSource): Promise<Principal> {
    const shown = shownCredential(source.headers, source.isSecure);
    const principal =
      shown.kind === 'bearer'
        ? await this.#byBearer(shown.token)
        : shown.kind === 'session'
          ? await this.#bySession(shown.secret, source)
          : undefined;
    if (principal === undefined) throw unauthorized();
    return principal;
  }

  /** Returns the current principal of a credential shown earlier. Throws UNAUTHORIZED once it is revoked. */
  async recheck(ref: CredentialRef): Promise<Principal> {
    const principal = await this.#byReference(ref);
    if (principal === undefined || principal.id !== ref.principalId) throw unauthorized();
    return principal;
  }

  /** Authenticates a client that has proved to hold the private key. Throws UNAUTHORIZED for an unknown key. */
  async authenticateSshKey(fingerprint: string): Promise<Principal> {
    const { database, clock } = this.#deps;
    const key = await database.sshKeys.byFingerprint(fingerprint);
    const principal = await this.#bySshKey(key);
    if (key === undefined || principal === undefined) throw unauthorized();
    const now = clock.now();
    if (isUseDue(key.lastUsedAt, now)) await database.sshKeys.touch(key.id, timestamp(now));
    return principal;
  }

  #byReference(ref: CredentialRef): Promise<Principal | undefined> {
    const { credential, credentialId } = ref;
    if (credential === 'oidc' || credential === 'guest_jwt') return this.#byUser(ref);
    // The object store checks access keys itself.
    if (credentialId === null || credential === 'access_key') return Promise.resolve(undefined);
    if (credential === 'api_token') return this.#byApiTokenId(credentialId);
    if (credential === 'ssh_key') return this.#bySshKeyId(credentialId);
    if (credential === 'service_account') return this.#byServiceAccountId(credentialId);
    return this.#bySessionId(credentialId, credential);
  }

  async #bySessionId(id: string, credential: 'session' | 'jwt'): Promise<Principal | undefined> {
    const session = await this.#deps.sessions.standing(id);
    const user = session === undefined ? undefined : await this.#deps.database.users.byId(session.userId);
    return session === undefined || user === undefined ? undefined : sessionPrincipal(user, credential, session);
  }

  async #byApiTokenId(id: string): Promise<Principal | undefined> {
    const { database, clock } = this.#deps;
    const holder = await database.apiTokens.holderById(id);
    if (holder === undefined || isExpired(holder.token.expiresAt, clock.now())) return undefined;
    return apiTokenPrincipal(holder.user, holder.token);
  }

  async #bySshKeyId(id: string): Promise<Principal | undefined> {
    return this.#bySshKey(await this.#deps.database.sshKeys.byId(id));
  }

  async #bySshKey(found: SshKey | undefined): Promise<Principal | undefined> {
    const user = found === undefined ? undefined : await this.#deps.database.users.byId(found.userId);
    return found === undefined || user === undefined ? undefined : sshKeyPrincipal(user, found);
  }

  async #byServiceAccountId(id: string): Promise<Principal | undefined> {
    const { database, clock } = this.#deps;
    const account = await database.serviceAccounts.byId(id);
    if (account === undefined || isExpired(account.expiresAt, clock.now())) return undefined;
    return serviceAccountPrincipal(account);
  }

  /** Credentials without a record: valid while the user exists and has not signed out everywhere. */
  async #byUser(ref: CredentialRef): Promise<Principal | undefined> {
    const { principalId, credential, shownAt, confirmedAt } = ref;
    const user = await this.#deps.database.users.byId(principalId);
    if (user === undefined || user.tokensValidFrom > shownAt) return undefined;
    if (credential === 'oidc')
      return userPrincipal(user, 'oidc', null, confirmedAt === undefined ? {} : { confirmedAt });
    const isGuest = user.kind === 'guest' && !isExpired(user.expiresAt, this.#deps.clock.now());
    return isGuest ? guestPrincipal(user) : undefined;
  }

  #byBearer(token: string): Promise<Principal | undefined> {
    if (token.startsWith('svc_pat_')) return this.#byApiToken(token);
    if (token.startsWith('sat_') || token.startsWith(E2B_KEY_PREFIX)) return this.#byServiceAccount(token);
    return this.#byJwt(token);
  }

  async #bySession(secret: string, source: CredentialSource): Promise<Principal | undefined> {
    const session = await this.#deps.sessions.bySecret(secret);
    const user = session === undefined ? undefined : await this.#deps.database.users.byId(session.userId);
    if (session === undefined || user === undefined) return undefined;
    // A browser adds the cookie to requests of any page; only our own page can add this header.
    const csrfToken = source.headers['x-csrf-token'];
    if (!SAFE_METHODS.has(source.method) && !csrfTokenMatches(secret, firstOf(csrfToken))) {
      throw accountErrors.CSRF_TOKEN_INVALID();
    }
    return sessionPrincipal(user, 'session', session);
  }

  async #byApiToken(secret: string): Promise<Principal | undefined> {
    const { database, clock } = this.#deps;
    const holder = await database.apiTokens.holderByTokenHash(hashToken(secret));
    const now = clock.now();
    if (holder === undefined || isExpired(holder.token.expiresAt, now)) return undefined;
    const { token, user } = holder;
    if (isUseDue(token.lastUsedAt, now)) await database.apiTokens.touch(token.id, timestamp(now));
    return apiTokenPrincipal(user, token);
  }

  async #byServiceAccount(secret: string): Promise<Principal | undefined> {
    const { database, clock } = this.#deps;
    const account = await database.serviceAccounts.byTokenHash(hashToken(secret));
    const now = clock.now();
    if (account === undefined || isExpired(account.expiresAt, now)) return undefined;
    if (isUseDue(account.lastUsedAt, now)) await database.serviceAccounts.touch(account.id, timestamp(now));
    return serviceAccountPrincipal(account);
  }

  async #byJwt(token: string): Promise<Principal | undefined> {
    const issuer = parseIssuer(token);
    if (issuer === this.#deps.jwt.issuer) return this.#byOwnJwt(token);
    if (issuer === undefined || !this.#deps.issuers.trusts(issuer)) return undefined;
    const identity = await this.#deps.issuers.verify(issuer, token);
    const user = identity === undefined ? undefined : await this.#deps.externalUsers.resolve(identity);
    if (identity === undefined || user === undefined) return undefined;
    return userPrincipal(user, 'oidc', null, { confirmedAt: new Date(identity.authenticatedAtMs).toISOString() });
  }

  async #byOwnJwt(token: string): Promise<Principal | undefined> {
    const claims = await this.#deps.jwt.verify(token);
    if (claims === undefined) return undefined;
    const user = await this.#deps.database.users.byId(claims.userId);
    if (user === undefined) return undefined;
    if (claims.kind === 'guest') {
      return user.kind === 'guest' && !isExpired(user.expiresAt, this.#deps.clock.now())
        ? guestPrincipal(user)
        : undefined;
    }
    const session = claims.sessionId === null ? undefined : await this.#deps.sessions.byId(claims.sessionId);
    if (session?.userId !== user.id) return undefined; // signed out
    return sessionPrincipal(user, 'jwt', session);
  }
}

/** Unverified: it only selects the issuer whose keys verify the token. */
function parseIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch (error) {
    if (isJoseError(error)) return undefined;
    throw error;
  }
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** RFC 6750, section 3. */
function unauthorized(): Error {
  return accountErrors.UNAUTHORIZED({ headers: { 'www-authenticate': 'Bearer realm="svc"' } });
}
