import type { Generated } from 'kysely';
import type {
  ApiToken,
  AuditRecord,
  Device,
  Identity,
  Invitation,
  Member,
  QuotaOverride,
  ServiceAccount,
  Session,
  Team,
  User,
  Workspace,
} from '../records.ts';

/** Tables as the queries see them: Kysely's camel case plugin stands between these names and `account_user.created_at`. */
export interface AccountTables {
  accountUser: User;
  accountIdentity: Identity;
  accountSession: Session;
  accountDevice: Device;
  accountApiToken: ApiToken;
  accountTeam: Team;
  accountMember: Member;
  accountInvitation: Invitation;
  accountWorkspace: Workspace;
  accountServiceAccount: ServiceAccount;
  accountQuotaOverride: QuotaOverride;
  accountAudit: Omit<AuditRecord, 'sequence'> & { sequence: Generated<number> };
}
