import type {
  AcceptedInvitation,
  ApiToken,
  AuditEntry,
  Caller,
  CreatedApiToken,
  NewAccount,
  Page,
  SignIn,
} from './accounts-types.ts';
import type { WorkspaceScope } from './platform.ts';
import { listPage, pageParameters, type PageQuery } from './pages.ts';
import type { CallOptions, Transport } from './transport.ts';

export interface AuditQuery extends WorkspaceScope, PageQuery {
  /** Id or name of who acted. */
  actor?: string | undefined;
  action?: string | undefined;
  /** ISO 8601; entries from then on. */
  since?: string | undefined;
}

/** Sign-in, and what belongs to the caller: account, tokens, audit log. */
export class AccountsClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Who the credential belongs to. */
  me(options: CallOptions = {}): Promise<Caller> {
    return this.#transport.call({ method: 'GET', path: '/api/auth/me', ...options });
  }

  /** In a browser this sets the session cookie too. */
  signIn(body: { email: string; password: string }, options: CallOptions = {}): Promise<SignIn> {
    return this.#transport.call({ method: 'POST', path: '/api/auth/login', body, ...options });
  }

  /** Ends this session, or with `everywhere` all sessions and access tokens of the user. */
  async signOut({ everywhere = false } = {}, options: CallOptions = {}): Promise<void> {
    const query = { everywhere: everywhere ? true : undefined };
    await this.#transport.call({ method: 'POST', path: '/api/auth/logout', query, ...options });
  }

  /**
   * Confirms this sign-in by password, after which it may change the password and API tokens for ten minutes. Refusals
   * with the code `CONFIRMATION_REQUIRED` ask for it.
   */
  async confirm(password: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call({ method: 'POST', path: '/api/auth/confirm', body: { password }, ...options });
  }

  /** Sets the password with the single-use token of a link; every session of the user ends. */
  async usePasswordLink(link: { token: string; newPassword: string }, options: CallOptions = {}): Promise<void> {
    const body = { token: link.token, new_password: link.newPassword };
    await this.#transport.call({ method: 'POST', path: '/api/auth/password/link', body, ...options });
  }

  /** Needs a sign-in confirmed within ten minutes. Ends all other sessions of the user too. */
  async changePassword(
    change: { currentPassword: string; newPassword: string },
    options: CallOptions = {},
  ): Promise<void> {
    const body = { current_password: change.currentPassword, new_password: change.newPassword };
    await this.#transport.call({ method: 'POST', path: '/api/auth/password', body, ...options });
  }

  tokens(page: PageQuery = {}, options: CallOptions = {}): Promise<Page<ApiToken>> {
    return listPage(this.#transport, 'tokens', { path: '/api/tokens', query: pageParameters(page), ...options });
  }

  /** Needs a sign-in confirmed within ten minutes. The answer is the only one that ever holds the token itself. */
  createToken(token: { name: string; expiresAt?: string }, options: CallOptions = {}): Promise<CreatedApiToken> {
    const body = { name: token.name, expires_at: token.expiresAt };
    return this.#transport.call({ method: 'POST', path: '/api/tokens', body, ...options });
  }

  async revokeToken(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call({ method: 'DELETE', path: `/api/tokens/${encodeURIComponent(id)}`, ...options });
  }

  /** Joins the team of the invitation: as the signed-in user, else as a new one made from `account`. */
  acceptInvitation(token: string, account?: NewAccount, options: CallOptions = {}): Promise<AcceptedInvitation> {
    const path = `/api/v1/invitations/${encodeURIComponent(token)}/accept`;
    return this.#transport.call({ method: 'POST', path, body: account ?? {}, ...options });
  }

  /**
   * One page of the audit log, newest first: of a workspace when one is named, else what concerns the caller (the
   * operator sees everything).
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
