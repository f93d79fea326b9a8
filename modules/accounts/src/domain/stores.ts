import type { WrappedKey } from '@svc/keys';
import type { ChainEnd, ChainEndName, ChainPoint } from './audit/audit-link.ts';
import type { QuotaScope } from '@svc/quotas';
import type { PageRequest } from './paging.ts';
import type { CountedAttempts } from './sign-in/counted-attempts.ts';
import type {
  ApiToken,
  AuditRecord,
  Device,
  Identity,
  Invitation,
  Member,
  PasswordLink,
  QuotaOverride,
  ServiceAccount,
  Session,
  SshKey,
  Team,
  TeamRole,
  User,
  Workspace,
} from './records.ts';

/** Database ports. Lists return one row more than `limit` if more follow; see paging.ts. */
export interface AccountDatabase extends AccountStores, AuditStores {
  /** Runs `work` atomically; it may use only the stores it is given. */
  transact<Result>(work: (stores: AccountStores) => Promise<Result>): Promise<Result>;
}

export interface AccountStores {
  users: UserStore;
  identities: IdentityStore;
  sessions: SessionStore;
  devices: DeviceStore;
  passwordLinks: PasswordLinkStore;
  apiTokens: ApiTokenStore;
  sshKeys: SshKeyStore;
  teams: TeamStore;
  members: MemberStore;
  invitations: InvitationStore;
  workspaces: WorkspaceStore;
  serviceAccounts: ServiceAccountStore;
  quotaOverrides: QuotaOverrideStore;
  throttles: ThrottleStore;
  audit: AuditStore;
}

/** How many guests there are. */
export interface GuestCount {
  readonly all: number;
  readonly address: number;
  readonly network: number;
}

export interface UserStore {
  /** Returns false if the e-mail is taken. */
  insert(user: User): Promise<boolean>;
  byId(id: string): Promise<User | undefined>;
  byEmail(email: string): Promise<User | undefined>;
  operator(): Promise<User | undefined>;
  update(
    id: string,
    changes: Partial<Pick<User, 'name' | 'passwordHash' | 'tokensValidFrom'>>,
    now: string,
  ): Promise<void>;
  /** Locks the user's row until the transaction ends, which serializes changes to what the user owns. */
  lock(id: string): Promise<void>;
  /** Guests that have not expired: all, and those of an address and a network. */
  countGuests(now: string, guest: Pick<User, 'guestAddress' | 'guestNetwork'>): Promise<GuestCount>;
  countSponsoredBy(id: string): Promise<number>;
  /** Least recently updated first. */
  expiredGuests(now: string, limit: number): Promise<User[]>;
  delete(id: string): Promise<void>;
}

export interface IdentityStore {
  bySubject(issuer: string, subject: string): Promise<Identity | undefined>;
  /** Returns false if the subject, or another subject of this issuer for the same user, is already known. */
  insert(identity: Identity): Promise<boolean>;
}

export interface SessionStore {
  insert(session: Session): Promise<void>;
  byId(id: string): Promise<Session | undefined>;
  byTokenHash(hash: string): Promise<Session | undefined>;
  touch(id: string, now: string): Promise<void>;
  confirm(id: string, now: string): Promise<void>;
  delete(id: string): Promise<boolean>;
  /** Returns the number ended. */
  deleteOfUser(userId: string, exceptId?: string): Promise<number>;
  /** Ends the user's oldest sessions until `keep` are left. */
  trim(userId: string, keep: number): Promise<void>;
  deleteExpired(now: string, idleBefore: string, limit: number): Promise<number>;
}

export interface DeviceStore {
  isKnown(userId: string, tokenHash: string): Promise<boolean>;
  put(device: Device): Promise<void>;
  trim(userId: string, keep: number): Promise<void>;
  deleteOfUser(userId: string): Promise<void>;
  deleteUnseenSince(before: string, limit: number): Promise<number>;
}

export interface PasswordLinkStore {
  /** Replaces the user's open link. */
  put(link: PasswordLink): Promise<void>;
  byTokenHash(hash: string): Promise<PasswordLink | undefined>;
  /** True for exactly one caller, and only while the link is open. */
  claim(tokenHash: string, now: string): Promise<boolean>;
  deleteOfUser(userId: string): Promise<void>;
  deleteExpired(before: string, limit: number): Promise<number>;
}

/** What a request needs of a token and of its user. */
export interface TokenHolder {
  readonly token: Pick<ApiToken, 'id' | 'expiresAt' | 'lastUsedAt' | 'purpose'>;
  readonly user: Pick<User, 'id' | 'name' | 'email' | 'operatorSince'>;
}

export interface ApiTokenStore {
  insert(token: ApiToken): Promise<void>;
  byId(id: string): Promise<ApiToken | undefined>;
  byTokenHash(hash: string): Promise<ApiToken | undefined>;
  /** The token with its user, in one query. */
  holderById(id: string): Promise<TokenHolder | undefined>;
  holderByTokenHash(hash: string): Promise<TokenHolder | undefined>;
  ofUser(userId: string, page: PageRequest): Promise<ApiToken[]>;
  countOfUser(userId: string): Promise<number>;
  touch(id: string, now: string): Promise<void>;
  delete(userId: string, id: string): Promise<boolean>;
  deleteByPurpose(purpose: string): Promise<number>;
  deleteExpired(before: string, limit: number): Promise<number>;
}

export interface SshKeyStore {
  /** Returns false if the key is registered already, by whichever user. */
  insert(key: SshKey): Promise<boolean>;
  byId(id: string): Promise<SshKey | undefined>;
  byFingerprint(fingerprint: string): Promise<SshKey | undefined>;
  ofUser(userId: string, page: PageRequest): Promise<SshKey[]>;
  countOfUser(userId: string): Promise<number>;
  touch(id: string, now: string): Promise<void>;
  delete(userId: string, id: string): Promise<boolean>;
}

export interface TeamStore {
  insert(team: Team): Promise<void>;
  byUuid(uuid: string): Promise<Team | undefined>;
  ofMember(userId: string, page: PageRequest): Promise<(Team & { role: TeamRole })[]>;
  countOwnedBy(userId: string): Promise<number>;
  update(uuid: string, changes: Partial<Pick<Team, 'name' | 'ownerId'>>, now: string): Promise<void>;
  /** Locks the team's row until the transaction ends; false if the team does not exist. */
  lock(uuid: string): Promise<boolean>;
  delete(uuid: string): Promise<void>;
}

export interface MemberStore {
  /** Returns false if already a member. */
  insert(member: Member): Promise<boolean>;
  get(teamUuid: string, userId: string): Promise<Member | undefined>;
  ofTeam(teamUuid: string, page: PageRequest): Promise<(Member & Pick<User, 'email' | 'name'>)[]>;
  count(teamUuid: string, role?: TeamRole): Promise<number>;
  setRole(teamUuid: string, userId: string, role: TeamRole): Promise<void>;
  delete(teamUuid: string, userId: string): Promise<void>;
}

export interface InvitationStore {
  insert(invitation: Invitation): Promise<void>;
  byTokenHash(hash: string): Promise<Invitation | undefined>;
  /** Only those that can still be accepted. */
  open(teamUuid: string, now: string, page: PageRequest): Promise<Invitation[]>;
  countOpen(teamUuid: string, now: string): Promise<number>;
  /** True for exactly one caller, and only while the invitation is open. */
  claim(id: string, userId: string, now: string): Promise<boolean>;
  delete(teamUuid: string, id: string): Promise<boolean>;
  /** Revokes one member's open invitations. */
  deleteOpenBy(teamUuid: string, invitedBy: string): Promise<void>;
  deleteExpired(before: string, limit: number): Promise<number>;
}

export interface WorkspaceStore {
  insert(workspace: Workspace): Promise<void>;
  byUuid(uuid: string): Promise<Workspace | undefined>;
  firstOwnedBy(userId: string): Promise<Workspace | undefined>;
  firstOfTeam(teamUuid: string): Promise<Workspace | undefined>;
  countOwnedBy(userId: string): Promise<number>;
  /** All of them, sorted, including those being deleted. */
  uuidsOwnedBy(userId: string): Promise<string[]>;
  /** Whether another user owns a workspace. */
  isAnyOwnedByOthers(userId: string): Promise<boolean>;
  /** Workspaces whose deletion began but never finished because the process ended. */
  stuckDeletions(before: string, limit: number): Promise<Workspace[]>;
  /** Workspaces the user owns and those of the user's teams, with the team role; with `teamUuid`, only that team's. */
  visibleTo(
    userId: string,
    page: PageRequest,
    teamUuid?: string,
  ): Promise<(Workspace & { teamRole: TeamRole | null })[]>;
  update(
    uuid: string,
    changes: Partial<Pick<Workspace, 'name' | 'teamUuid' | 'ownerId' | 'deletingSince'>>,
    now: string,
  ): Promise<void>;
  /** Locks the workspace's row until the transaction ends; false if the workspace does not exist. */
  lock(uuid: string): Promise<boolean>;
  /** Transfers the team's workspaces from one owner to another. */
  reassign(teamUuid: string, fromUserId: string, toUserId: string, now: string): Promise<void>;
  delete(uuid: string): Promise<void>;
}

export interface ServiceAccountStore {
  insert(account: ServiceAccount): Promise<void>;
  byId(id: string): Promise<ServiceAccount | undefined>;
  byTokenHash(hash: string): Promise<ServiceAccount | undefined>;
  ofWorkspace(workspaceUuid: string, page: PageRequest): Promise<ServiceAccount[]>;
  count(workspaceUuid: string): Promise<number>;
  touch(id: string, now: string): Promise<void>;
  /** Returns false if the workspace has no such account. */
  rename(workspaceUuid: string, id: string, name: string): Promise<boolean>;
  delete(workspaceUuid: string, id: string): Promise<boolean>;
  deleteExpired(before: string, limit: number): Promise<number>;
}

export interface QuotaOverrideStore {
  ofSubject(scope: QuotaScope, subject: string): Promise<QuotaOverride[]>;
  /** The first `limit` overrides, by scope, subject and quota. */
  list(limit: number): Promise<QuotaOverride[]>;
  put(override: QuotaOverride): Promise<void>;
  /** Returns false if there was none. */
  delete(scope: QuotaScope, subject: string, quota: string): Promise<boolean>;
  deleteOfSubject(scope: QuotaScope, subject: string): Promise<void>;
}

export interface AuditFilter {
  workspaceUuid?: string;
  /** Id or name. */
  actor?: string;
  action?: string;
  /** ISO 8601 UTC, inclusive. */
  since?: string;
  /** Actions by a user and on the user's own account. */
  concerningUserId?: string;
}

/** Attempts by key, which all replicas count together. */
export interface ThrottleStore {
  /**
   * Returns the attempts of these keys in their order, and keeps others from counting there until the transaction ends.
   * Callers pass keys in one common order.
   */
  lock(keys: readonly string[], nowMs: number): Promise<CountedAttempts[]>;
  save(attempts: readonly CountedAttempts[]): Promise<void>;
  deleteUntouched(beforeMs: number, limit: number): Promise<number>;
}

/** Reads the log for display. */
export interface AuditStore {
  /** Newest first, before `beforeSequence`; one row more than `limit` if more follow. */
  list(filter: AuditFilter, limit: number, beforeSequence: number | null): Promise<AuditRecord[]>;
}

/**
 * The log as a chain, inside one transaction. It only grows at its end and shrinks in contiguous stretches at its
 * beginning.
 */
export interface AuditChainStore {
  /** Locks the head until the transaction ends, which gives all replicas one order; null before the first row. */
  lockHead(): Promise<ChainPoint | null>;
  end(name: ChainEndName): Promise<ChainEnd | null>;
  setEnd(name: ChainEndName, end: ChainEnd): Promise<void>;
  /** Reserves sequences for `count` new rows, above every existing one. */
  nextSequences(count: number): Promise<readonly number[]>;
  insert(records: readonly AuditRecord[]): Promise<void>;
  rowsAfter(sequence: number, limit: number): Promise<AuditRecord[]>;
  deleteThrough(sequence: number): Promise<void>;
  /** The last linked row, while there is no head. */
  lastLinked(): Promise<ChainPoint | null>;
  setMac(point: ChainPoint): Promise<void>;
  key(): Promise<WrappedKey | null>;
  /** No-op if there is one. */
  addKey(key: WrappedKey): Promise<void>;
  replaceKey(key: WrappedKey): Promise<void>;
}

/** What an append writes: the rows, and the head after them. */
export interface ChainExtension {
  readonly records: readonly AuditRecord[];
  readonly head: ChainEnd;
}

/** Links new rows to the head (null if there is none), with reserved sequences in ascending order. */
export type LinkRows = (head: ChainPoint | null, sequences: readonly number[]) => ChainExtension;

export interface AuditStores {
  /** Appends `count` rows in one transaction, which holds the lock of the head from before `link` to its end. */
  extendAudit(count: number, link: LinkRows): Promise<void>;
  transactAudit<Result>(work: (chain: AuditChainStore) => Promise<Result>): Promise<Result>;
  /** Runs `work` on one consistent snapshot. */
  readAudit<Result>(work: (chain: AuditChainStore) => Promise<Result>): Promise<Result>;
}
