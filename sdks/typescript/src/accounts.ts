import type {
  AcceptedInvitation,
  ApiToken,
  AuditEntry,
  Caller,
  CreatedApiToken,
  NewAccount,
  Page,
  SignIn,
  SshKey,
} from './accounts-types.ts';
import type { WorkspaceScope } from './platform.ts';
import { listPage, pageParameters, type PageQuery } from './pages.ts';
import type { CallOptions, Transport } from './transport.ts';

/** Filters of the audit log. */
export interface AuditQuery extends WorkspaceScope, PageQuery {
  /** Id or name of the actor. */
  actor?: string | undefined;
  action?: string | undefined;
  /** ISO 8601; only entries at or after this time. */
  since?: string | undefined;
}

/**
 * Sign-in and the caller's own account, tokens and audit log.
 *
 * @example
 * ```ts
 * const { token } = await svc.accounts.createToken({ name: 'ci', expiresAt: '2027-01-01T00:00:00.000Z' });
 * ```
 */
export class AccountsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns the user or service account of the credential. */
  me(options: CallOptions = {}): Promise<Caller> {
    return this.#transport.call({ method: 'GET', path: '/api/auth/me', ...options });
  }

  /** Signs in with email and password. In a browser this also sets the session cookie. */
  signIn(body: { email: string; password: string }, options: CallOptions = {}): Promise<SignIn> {
    return this.#transport.call({ method: 'POST', path: '/api/auth/login', body, ...options });
  }

  /** Ends this session. With `everywhere`, ends all sessions and access tokens of the user. */
  async signOut({ everywhere = false } = {}, options: CallOptions = {}): Promise<void> {
    const query = { everywhere: everywhere ? true : undefined };
    await this.#transport.call({ method: 'POST', path: '/api/auth/logout', query, ...options });
  }

  /**
   * Confirms this sign-in by password. For ten minutes it may then change the password and manage API tokens and SSH
   * keys; until then, such calls fail with `CONFIRMATION_REQUIRED`.
   */
  async confirm(password: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call({ method: 'POST', path: '/api/auth/confirm', body: { password }, ...options });
  }

  /** Sets the password with the single-use token of a link. Ends every session of the user. */
  async usePasswordLink(link: { token: string; newPassword: string }, options: CallOptions = {}): Promise<void> {
    const body = { token: link.token, new_password: link.newPassword };
    await this.#transport.call({ method: 'POST', path: '/api/auth/password/link', body, ...options });
  }

  /** Changes the password and ends the user's other sessions. Requires a sign-in confirmed in the last ten minutes. */
  async changePassword(
    change: { currentPassword: string; newPassword: string },
    options: CallOptions = {},
  ): Promise<void> {
    const body = { current_password: change.currentPassword, new_password: change.newPassword };
    await this.#transport.call({ method: 'POST', path: '/api/auth/password', body, ...options });
  }

  /** Lists one page of the caller's API tokens. */
  tokens(page: PageQuery = {}, options: CallOptions = {}): Promise<Page<ApiToken>> {
    return listPage(this.#transport, 'tokens', { path: '/api/tokens', query: pageParameters(page), ...options });
  }

  /**
   * Creates an API token. Requires a sign-in confirmed in the last ten minutes. The token itself is in this response
   * only.
   */
  createToken(token: { name: string; expiresAt?: string }, options: CallOptions = {}): Promise<CreatedApiToken> {
    const body = { name: token.name, expires_at: token.expiresAt };
    return this.#transport.call({ method: 'POST', path: '/api/tokens', body, ...options });
  }

  /** Revokes an API token. */
  async revokeToken(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call({ method: 'DELETE', path: `/api/tokens/${encodeURIComponent(id)}`, ...options });
  }

  /** Lists one page of the caller's SSH keys. */
  sshKeys(page: PageQuery = {}, options: CallOptions = {}): Promise<Page<SshKey>> {
    return listPage(this.#transport, 'ssh_keys', { path: '/api/ssh-keys', query: pageParameters(page), ...options });
  }

  /**
   * Registers a public key, the content of a `.pub` file, for logins over SSH. Requires a sign-in confirmed in the last
   * ten minutes.
   */
  addSshKey(key: { name: string; publicKey: string }, options: CallOptions = {}): Promise<SshKey> {
    const body = { name: key.name, public_key: key.publicKey };
    return this.#transport.call({ method: 'POST', path: '/api/ssh-keys', body, ...options });
  }

  /**
   * Removes an SSH key. Its open connections end within two seconds. Requires a sign-in confirmed in the last ten
   * minutes.
   */
  async removeSshKey(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call({ method: 'DELETE', path: `/api/ssh-keys/${encodeURIComponent(id)}`, ...options });
  }

  /** Joins the team of an invitation: as the signed-in user, or as a new user created from `account`. */
  acceptInvitation(token: string, account?: NewAccount, options: CallOptions = {}): Promise<AcceptedInvitation> {
    const path = `/api/v1/invitations/${encodeURIComponent(token)}/accept`;
    return this.#transport.call({ method: 'POST', path, body: account ?? {}, ...options });
  }

  /**
   * Lists one page of the audit log, newest first: of the given workspace, otherwise entries about the caller.
   * Operators see all entries.
   */
  audit(query: AuditQuery, options: CallOptions = {}): Promise<Page<AuditEntry>> {
    const { workspaceUuid, teamUuid, actor, action, since } = query;
    return listPage(this.#transport, 'entries', {
      path: '/api/v1/audit',
      query: { workspace_uuid: workspaceUuid, team_uuid: teamUuid, actor, action, since, ...pageParameters(query) },
      ...options,
    });
  }
}
