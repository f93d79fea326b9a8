import type { Access, AuditLog } from '@svc/access';
import type { AuditTrail } from './audit/audit-trail.ts';
import type { AccessJwt } from './jwt/access-jwt.ts';
import type { SigningKeys } from './jwt/signing-keys.ts';
import type { PasswordChange } from './password/password-change.ts';
import type { PasswordLinks } from './password/password-links.ts';
import type { PasswordProof } from './password/password-proof.ts';
import type { Sessions } from './sign-in/sessions.ts';
import type { SignIn } from './sign-in/sign-in.ts';
import type { SignOut } from './sign-in/sign-out.ts';
import type { AccountDatabase } from './stores.ts';
import type { QuotaBook } from './quotas/quota-book.ts';
import type { CachedQuotaLimits } from './quotas/quota-limits.ts';
import type { InvitationAcceptance } from './teams/invitation-acceptance.ts';
import type { Invitations } from './teams/invitations.ts';
import type { Members } from './teams/members.ts';
import type { Teams } from './teams/teams.ts';
import type { ApiTokens } from './tokens/api-tokens.ts';
import type { ServiceAccounts } from './tokens/service-accounts.ts';
import type { SshKeys } from './tokens/ssh-keys.ts';
import type { Guests } from './users/guests.ts';
import type { WorkspaceDeletion } from './workspaces/workspace-deletion.ts';
import type { Workspaces } from './workspaces/workspaces.ts';

/** Services that the routes call; created once in module.ts. */
export interface AccountServices {
  database: AccountDatabase;
  access: Access;
  audit: AuditLog;
  auditTrail: AuditTrail;
  sessions: Sessions;
  signIn: SignIn;
  signOut: SignOut;
  passwordChange: PasswordChange;
  passwordLinks: PasswordLinks;
  passwordProof: PasswordProof;
  jwt: AccessJwt;
  keys: SigningKeys;
  guests: Guests;
  apiTokens: ApiTokens;
  sshKeys: SshKeys;
  serviceAccounts: ServiceAccounts;
  teams: Teams;
  members: Members;
  invitations: Invitations;
  acceptance: InvitationAcceptance;
  workspaces: Workspaces;
  workspaceDeletion: WorkspaceDeletion;
  now: () => Date;
  quotaLimits: CachedQuotaLimits;
  quotas: QuotaBook;
  accessTokenLifetimeSeconds: number;
  guestSandboxes: number;
  /** URL of the console, without a trailing slash. */
  publicUrl: () => string;
  onSignIn: (outcome: 'success' | 'refused' | 'throttled') => void;
}
