import type { QuotaScope } from '@svc/quotas';

/** The module's records. All times are ISO 8601 UTC; all secrets are hashes. */

export type TeamRole = 'admin' | 'member' | 'guest';
export type Scope = 'read' | 'write' | 'admin';

export interface User {
  id: string;
  kind: 'person' | 'guest';
  /** Lower case; null for guests. */
  email: string | null;
  name: string;
  passwordHash: string | null;
  /** Set for the operator of the installation. */
  operatorSince: string | null;
  /** Signed tokens issued earlier are refused. */
  tokensValidFrom: string;
  createdAt: string;
  updatedAt: string;
  /** Only guests expire. */
  expiresAt: string | null;
  /**
   * The user whose quota of invited accounts this account uses; null if the operator or an external issuer admitted it.
   */
  sponsorId: string | null;
  /** Keys of the address and the network that a guest signed in from; null for persons. */
  guestAddress: string | null;
  guestNetwork: string | null;
}

export interface Identity {
  issuer: string;
  subject: string;
  userId: string;
  createdAt: string;
}

export interface Session {
  id: string;
  userId: string;
  tokenHash: string;
  remoteAddress: string;
  userAgent: string;
  createdAt: string;
  lastSeenAt: string;
  expiresAt: string;
  /** When the user last proved their identity: at sign-in, or with their password since. */
  confirmedAt: string;
}

/** A single-use link that sets a user's password. */
export interface PasswordLink {
  userId: string;
  tokenHash: string;
  createdAt: string;
  expiresAt: string;
}

/** A browser from which this user has signed in; see sign-in/login-throttle.ts. */
export interface Device {
  tokenHash: string;
  userId: string;
  lastSeenAt: string;
}

export interface ApiToken {
  id: string;
  userId: string;
  name: string;
  tokenHash: string;
  purpose: string | null;
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
}

/** A public key that its user logs in with over SSH. */
export interface SshKey {
  id: string;
  userId: string;
  name: string;
  /** As in `authorized_keys`, without the comment. */
  publicKey: string;
  fingerprint: string;
  createdAt: string;
  lastUsedAt: string | null;
}

export interface Team {
  uuid: string;
  name: string;
  ownerId: string;
  createdAt: string;
  updatedAt: string;
}

export interface Member {
  teamUuid: string;
  userId: string;
  role: TeamRole;
  createdAt: string;
}

export interface Invitation {
  id: string;
  teamUuid: string;
  email: string;
  role: TeamRole;
  tokenHash: string;
  invitedBy: string;
  createdAt: string;
  expiresAt: string;
  acceptedAt: string | null;
  acceptedBy: string | null;
}

export interface Workspace {
  uuid: string;
  name: string;
  ownerId: string;
  teamUuid: string | null;
  deletingSince: string | null;
  createdAt: string;
  updatedAt: string;
}

/** A limit that the operator set for one workspace (by UUID) or one owner (by user id). */
export interface QuotaOverride {
  scope: QuotaScope;
  subject: string;
  quota: string;
  /** Null means unlimited. */
  amount: number | null;
  updatedAt: string;
}

export interface ServiceAccount {
  id: string;
  workspaceUuid: string;
  name: string;
  tokenHash: string;
  /** Comma-separated `Scope`s. */
  scopes: string;
  createdBy: string;
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  /** The API token or service account that created it and whose revocation removes it; null if created in a sign-in. */
  madeWithTokenId: string | null;
  madeWithAccountId: string | null;
}

export interface AuditRecord {
  sequence: number;
  occurredAt: string;
  actorKind: 'user' | 'service_account' | 'guest' | 'anonymous';
  actorId: string | null;
  actorName: string | null;
  credential: string | null;
  credentialId: string | null;
  action: string;
  resource: string;
  workspaceUuid: string | null;
  outcome: 'success' | 'refused' | 'failed';
  status: number;
  remoteAddress: string;
  requestId: string;
  /** JSON object. */
  details: string;
  /** Links the record to the previous one; null if something other than the platform wrote it. */
  mac: string | null;
}
