import type { KeyObject } from 'node:crypto';
import type { KeyWrapper } from '@svc/keys';
import type { Clock, Random } from '@svc/runtime';
import type { Logger, Metrics } from '@svc/telemetry';
import { createAccess } from '../routes/credentials/access-port.ts';
import { createAuditLog } from '../domain/access/audit-port.ts';
import { Authenticator } from '../routes/credentials/authenticator.ts';
import { AuditChain } from '../domain/audit/audit-chain.ts';
import { loadChainKey } from '../domain/audit/chain-key.ts';
import { createBeginOnce } from '../domain/audit/begin-once.ts';
import type { BeginningMark } from '../domain/audit/beginning-mark.ts';
import { AuditTrail } from '../domain/audit/audit-trail.ts';
import type { AccountsConfig } from '../config.ts';
import { AccessJwt } from '../domain/jwt/access-jwt.ts';
import type { SigningKeyStore } from '../domain/jwt/signing-key.ts';
import { SigningKeys } from '../domain/jwt/signing-keys.ts';
import { ExternalUsers } from '../adapters/oidc/external-users.ts';
import type { Fetch } from '../adapters/oidc/jwks-cache.ts';
import { TrustedIssuers } from '../adapters/oidc/trusted-issuers.ts';
import { PasswordChange } from '../domain/password/password-change.ts';
import { PasswordLinks } from '../domain/password/password-links.ts';
import { PasswordProof } from '../domain/password/password-proof.ts';
import { Argon2PasswordHasher } from '../domain/password/password-hasher.ts';
import type { AccountServices } from '../domain/services.ts';
import { QuotaBook } from '../domain/quotas/quota-book.ts';
import { type QuotaSource } from '../domain/quotas/account-quotas.ts';
import { createOwnerRoom } from '../domain/quotas/owner-room.ts';
import { CachedQuotaLimits } from '../domain/quotas/quota-limits.ts';
import { LoginThrottle } from '../domain/sign-in/login-throttle.ts';
import { Sessions } from '../domain/sign-in/sessions.ts';
import { SignIn } from '../domain/sign-in/sign-in.ts';
import { SignOut } from '../domain/sign-in/sign-out.ts';
import type { AccountDatabase } from '../domain/stores.ts';
import { InvitationAcceptance } from '../domain/teams/invitation-acceptance.ts';
import { Invitations } from '../domain/teams/invitations.ts';
import { Members } from '../domain/teams/members.ts';
import { Teams } from '../domain/teams/teams.ts';
import { ApiTokens } from '../domain/tokens/api-tokens.ts';
import { ServiceAccounts } from '../domain/tokens/service-accounts.ts';
import { SshKeys } from '../domain/tokens/ssh-keys.ts';
import { Guests } from '../domain/users/guests.ts';
import { OwnerAccounts } from '../domain/users/owner.ts';
import { WorkspaceDeletion, type WorkspaceHoldings } from '../domain/workspaces/workspace-deletion.ts';
import { Workspaces } from '../domain/workspaces/workspaces.ts';

export interface ServiceDeps {
  database: AccountDatabase;
  clock: Clock;
  random: Random;
  config: AccountsConfig;
  keyStore: SigningKeyStore;
  /** Encrypts the key of the audit chain. */
  keyWrapper: KeyWrapper;
  beginningMark: BeginningMark;
  log: Logger;
  metrics: Metrics;
  publicUrl: () => string;
  holdings: WorkspaceHoldings;
  quotas: QuotaSource;
  fetch: Fetch;
}

/** Assembles the module. Reads the signing keys and creates the first one. */
export async function createServices(
  deps: ServiceDeps,
): Promise<AccountServices & { owners: OwnerAccounts; chainKey: KeyObject; beginAudit: () => Promise<void> }> {
  const { database, clock, random, config, metrics } = deps;
  const { limits } = config;
  const { members_per_team: maxMembers } = limits;
  const { memory_kib: memoryKib, passes, parallelism } = config.password;
  const hasher = new Argon2PasswordHasher({ memoryKib, passes, parallelism }, random.bytes);
  const throttle = new LoginThrottle(database, throttleOptions(config), clock);
  const passwordProof = new PasswordProof(hasher, throttle);
  const sessions = new Sessions(database, clock, random, sessionOptions(config));
  const apiTokens = new ApiTokens(database, clock, random, limits.api_tokens_per_user);
  const lifetime = Math.max(config.access_token_lifetime_seconds, config.guest.token_lifetime_seconds);
  const keys = await SigningKeys.open(deps.keyStore, clock, lifetime);
  const jwt = new AccessJwt(keys, clock, random, config.issuer);
  const issuers = new TrustedIssuers(issuerOptions(config), clock, deps.fetch);
  const externalUsers = new ExternalUsers(database, clock, random);
  const authenticator = new Authenticator({ database, clock, sessions, jwt, issuers, externalUsers });
  const signIns = metrics.counter('svc_sign_ins_total', 'Sign-ins with a password by outcome', ['outcome']);
  const chainKey = await loadChainKey(database, deps.keyWrapper, random.bytes);
  const chain = new AuditChain(database, chainKey);
  const beginAudit = createBeginOnce({ stores: database, chain, mark: deps.beginningMark, log: deps.log });
  const quotaLimits = new CachedQuotaLimits(database, clock, deps.quotas.defaults);
  const room = createOwnerRoom(quotaLimits);
  const auditTrail = createAuditTrail(deps, chain);
  return {
    database,
    access: createAccess(authenticator, database, clock),
    audit: createAuditLog(auditTrail),
    auditTrail,
    sessions,
    signIn: new SignIn(database, clock, random, hasher, sessions, throttle),
    signOut: new SignOut(database, clock),
    passwordChange: new PasswordChange(database, clock, hasher, passwordProof),
    passwordLinks: new PasswordLinks(database, clock, random, hasher),
    passwordProof,
    jwt,
    keys,
    guests: new Guests(database, clock, random, jwt, guestOptions(config)),
    apiTokens,
    sshKeys: new SshKeys(database, clock, random, limits.ssh_keys_per_user),
    serviceAccounts: new ServiceAccounts(database, clock, random, limits.service_accounts_per_workspace),
    teams: new Teams(database, clock, random, room),
    members: new Members(database, clock, random),
    invitations: new Invitations(database, clock, random, limits.open_invitations_per_team),
    acceptance: new InvitationAcceptance({ database, clock, random, hasher, maxMembers, room }),
    workspaces: new Workspaces(database, clock, random, room),
    workspaceDeletion: new WorkspaceDeletion(database, clock, deps.holdings),
    chainKey,
    beginAudit,
    quotaLimits,
    quotas: new QuotaBook(database, clock, deps.quotas, quotaLimits),
    owners: new OwnerAccounts(database, clock, random, hasher, apiTokens),
    now: () => clock.now(),
    accessTokenLifetimeSeconds: config.access_token_lifetime_seconds,
    guestSandboxes: config.guest.sandboxes,
    publicUrl: deps.publicUrl,
    onSignIn: (outcome) => signIns.inc({ outcome }),
  };
}

function createAuditTrail({ database, clock, config, metrics, log }: ServiceDeps, chain: AuditChain): AuditTrail {
  const suppressed = metrics.counter(
    'svc_audit_suppressed_total',
    'Refusals of strangers that were too many to record',
  );
  const options = { retentionDays: config.audit_retention_days };
  return new AuditTrail(database.audit, chain, clock, options, {
    onSuppressed: () => suppressed.inc(),
    onBroken: (row) =>
      log.error(
        { row },
        'the audit log was changed, so its retention removes nothing more: run `svc admin verify-audit`',
      ),
  });
}

function sessionOptions({ session }: AccountsConfig) {
  return {
    lifetimeSeconds: session.lifetime_seconds,
    idleSeconds: session.idle_seconds,
    maxPerUser: session.max_per_user,
  };
}

function throttleOptions({ throttle }: AccountsConfig) {
  return {
    addressBurst: throttle.address_burst,
    addressPerMinute: throttle.address_per_minute,
    accountBurst: throttle.account_burst,
    accountPerMinute: throttle.account_per_minute,
    freeFailures: throttle.free_failures,
    maxDelaySeconds: throttle.max_delay_seconds,
  };
}

function guestOptions({ guest }: AccountsConfig) {
  return {
    enabled: guest.enabled,
    tokenLifetimeSeconds: guest.token_lifetime_seconds,
    maxActive: guest.max_active,
    perMinute: guest.per_minute,
  };
}

function issuerOptions({ trusted_issuers: issuers }: AccountsConfig) {
  return issuers.map((each) => ({
    issuer: each.issuer,
    audience: each.audience,
    jwksUrl: each.jwks_url,
    emailClaim: each.email_claim,
    requireVerifiedEmail: each.require_verified_email,
    autoCreate: each.auto_create,
  }));
}
