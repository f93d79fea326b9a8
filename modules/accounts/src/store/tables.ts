import type { ChainEnd, ChainEndName } from '../domain/audit/audit-link.ts';
import type { CountedAttempts } from '../domain/sign-in/counted-attempts.ts';
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
  User,
  Workspace,
} from '../domain/records.ts';

/** Tables as the queries see them: Kysely's camel case plugin maps these names to `account_user.created_at`. */
export interface AccountTables {
  accountUser: User;
  accountIdentity: Identity;
  accountSession: Session;
  accountDevice: Device;
  accountPasswordLink: PasswordLink;
  accountApiToken: ApiToken;
  accountSshKey: SshKey;
  accountTeam: Team;
  accountMember: Member;
  accountInvitation: Invitation;
  accountWorkspace: Workspace;
  accountServiceAccount: ServiceAccount;
  accountAudit: AuditRecord;
  accountAuditEnd: ChainEnd & { name: ChainEndName };
  accountAuditKey: { id: number; wrapper: string; wrapped: string };
  accountQuotaOverride: QuotaOverride;
  accountThrottle: CountedAttempts;
}
