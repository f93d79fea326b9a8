import { join } from 'node:path';
import type { Access, Action, AuditLog } from '@svc/access';
import type { HttpApp, PlatformModule } from '@svc/http';
import type { KeyWrapper } from '@svc/keys';
import type { QuotaLimits } from '@svc/quotas';
import { backgroundClock, BackgroundLoop, type Clock, systemRandom } from '@svc/runtime';
import { createSealedSecrets, SECRET_CHANNEL } from '@svc/replicas';
import { EventWorker, type Database } from '@svc/sql';
import type { Logger, Metrics } from '@svc/telemetry';
import type { ChainPoint } from './domain/audit/audit-link.ts';
import { createBeginningMark } from './domain/audit/beginning-mark.ts';
import { rewrapChainKey } from './domain/audit/chain-key.ts';
import { verifyChain, type ChainReport } from './domain/audit/verify-chain.ts';
import type { SigningKeys } from './domain/jwt/signing-keys.ts';
import { createServices } from './assembly/create-services.ts';
import type { AccountsConfig } from './config.ts';
import { registerRoutes } from './routes/register-routes.ts';
import { ownQuotaSource } from './domain/quotas/account-quotas.ts';
import type { QuotaBook } from './domain/quotas/quota-book.ts';
import type { QuotaSource } from './domain/quotas/account-quotas.ts';
import { SigningKeyFiles } from './adapters/signing-key-files.ts';
import { SIGNING_KEY_PREFIX, SigningKeySecrets } from './adapters/signing-key-secrets.ts';
import type { Fetch } from './adapters/oidc/jwks-cache.ts';
import { createApiKeys, type ApiKeys } from './domain/tokens/api-keys.ts';
import { purgeExpired } from './domain/purge.ts';
import { createAccountDatabase } from './store/account-database.ts';
import type { OwnerAccount, StartToken } from './domain/users/owner.ts';
import { createWorkspaceDirectory, type WorkspaceDirectory } from './domain/workspaces/workspace-directory.ts';
import type { WorkspaceHoldings } from './domain/workspaces/workspace-deletion.ts';

export interface AccountsDependencies {
  /** The main database, migrated. The opener closes it. */
  database: Pick<Database<unknown>, 'kysely' | 'dialect' | 'events'>;
  config: AccountsConfig;
  /** Encrypts the key of the audit chain. It must not depend on a service that may be down: every change is audited. */
  keyWrapper: KeyWrapper;
  /** Holds the mark of the audit log in `keys/audit-begun`, and the signing keys of earlier versions in `keys/jwt`. */
  dataFolder: string;
  log: Logger;
  metrics: Metrics;
  /** URL of the console, without a trailing slash; read whenever a link is created. */
  publicUrl: () => string;
  /** Describes what a workspace still contains; a workspace with contents is not deleted. Defaults to nothing. */
  workspaceHoldings?: WorkspaceHoldings;
  /** Declarations, defaults and usage of all quotas. Defaults to the module's own. */
  quotas?: QuotaSource;
  /** Defaults to the clock of the process, whose timers do not keep it alive. */
  clock?: Clock;
  /** Fetches the keys of trusted issuers. */
  fetch?: Fetch;
}

export interface AccountsModule extends PlatformModule {
  readonly access: Access;
  readonly audit: AuditLog;
  readonly directory: WorkspaceDirectory;
  /** Service accounts as keys, for modules whose clients manage them. */
  readonly apiKeys: ApiKeys;
  /** The limits in force, for every module that counts. */
  readonly quotaLimits: QuotaLimits;
  /** Limits that the operator sets: `svc admin quota`. */
  readonly quotas: QuotaBook;
  /**
   * Writes an audit entry for a change made on the command line: without a caller, with `by: svc admin` in its details.
   */
  auditCommand(this: void, action: Action, resource: string, details?: Record<string, unknown>): Promise<void>;
  /** Also begins the audit log if needed, because requests write to it. */
  registerRoutes(app: HttpApp): Promise<void>;
  /** Creates the owner on the first start; later starts change nothing. */
  ensureOwner(wanted: { email?: string; password?: string }): Promise<OwnerAccount>;
  /** `svc admin reset-password`. Throws USER_NOT_FOUND and PASSWORD_UNSUITABLE. */
  resetPassword(email: string, password: string): Promise<{ userId: string; sessionsEnded: number }>;
  /** `svc admin password-link`: a single-use link that sets a user's password. Throws USER_NOT_FOUND. */
  createPasswordLink(email: string): Promise<{ url: string; expiresAt: string }>;
  /** The owner's API token for this start of a replica; that of its previous start is revoked. */
  issueStartToken(replica: string, previousToken?: string): Promise<StartToken>;
  /** `svc admin rotate-keys`. Returns the id of the new signing key. */
  rotateKeys(): Promise<string>;
  /**
   * `svc admin verify-audit`: reads only, and so never begins the log. `anchor`: a head that an earlier report named.
   */
  verifyAudit(anchor?: ChainPoint): Promise<ChainReport>;
  /** Rewraps the audit key under the wrapper's newest key after a change of the master key. */
  rewrapAuditKey(): Promise<void>;
  /** Purges expired data every few minutes until the signal or `close`. */
  start(signal: AbortSignal): Promise<void>;
  status(): { signing_key: string };
}

const PURGE_EVERY_MS = 5 * 60_000;

export async function createAccountsModule(deps: AccountsDependencies): Promise<AccountsModule> {
  const clock = deps.clock ?? backgroundClock;
  const random = systemRandom;
  const database = createAccountDatabase(deps.database);
  const services = await createServices({
    database,
    clock,
    random,
    config: deps.config,
    keyWrapper: deps.keyWrapper,
    keyStore: new SigningKeySecrets(
      createSealedSecrets(deps.database, deps.keyWrapper),
      new SigningKeyFiles(join(deps.dataFolder, 'keys', 'jwt')),
    ),
    beginningMark: createBeginningMark(join(deps.dataFolder, 'keys')),
    log: deps.log,
    metrics: deps.metrics,
    publicUrl: deps.publicUrl,
    holdings: deps.workspaceHoldings ?? (async () => []),
    quotas: deps.quotas ?? ownQuotaSource(deps.config),
    fetch: deps.fetch ?? fetch,
  });
  const { sessions, auditTrail: audit, keys, workspaceDeletion: deletion } = services;
  const purge = new BackgroundLoop({
    run: async () => {
      const removed = await purgeExpired({ database, clock, sessions, audit, keys, deletion });
      if (removed > 0) deps.log.info({ removed }, 'purged expired accounts data');
    },
    intervalMs: PURGE_EVERY_MS,
    runsAtStart: true,
    onError: (err) => deps.log.error({ err }, 'the purge of expired accounts data failed'),
    clock,
  });
  let rotations: EventWorker | null = null;
  /**
   * Records the operator's command-line changes: there is no request and no caller; access to the data folder is the
   * permission.
   */
  const auditCommand: AccountsModule['auditCommand'] = async (action, resource, details = {}) => {
    await services.beginAudit();
    await services.audit.record({
      principal: null,
      action,
      resource,
      workspaceUuid: null,
      outcome: 'success',
      status: 200,
      remoteAddress: 'local',
      requestId: random.uuid(),
      details: { ...details, by: 'svc admin' },
    });
  };
  return {
    access: services.access,
    audit: services.audit,
    directory: createWorkspaceDirectory(database),
    apiKeys: createApiKeys(services.serviceAccounts),
    quotaLimits: services.quotaLimits,
    quotas: services.quotas,
    auditCommand,
    async registerRoutes(app) {
      await services.beginAudit();
      await registerRoutes(app, services);
    },
    registerUpgrades: () => undefined,
    readiness: () => 'ok',
    ensureOwner: (wanted) => services.owners.ensure(wanted),
    async resetPassword(email, password) {
      const reset = await services.owners.resetPassword(email, password);
      await auditCommand('account:update', `user/${reset.userId}`);
      return reset;
    },
    async createPasswordLink(email) {
      const { user, secret, expiresAt } = await services.passwordLinks.create(email);
      await auditCommand('password-link:create', `user/${user.id}`);
      // After the `#`, the secret reaches no server, proxy log or Referer header.
      return { url: `${deps.publicUrl()}/set-password#${secret}`, expiresAt };
    },
    issueStartToken: (replica, previousToken) => services.owners.issueStartToken(replica, previousToken),
    rotateKeys: () => keys.rotate(),
    verifyAudit: (anchor) => verifyChain(database, services.chainKey, anchor),
    rewrapAuditKey: () => rewrapChainKey(database, deps.keyWrapper),
    start: async (signal) => {
      rotations ??= followRotations(deps, keys);
      purge.start(signal);
    },
    status: () => ({ signing_key: keys.signer().kid }),
    drain: async () => undefined,
    close: async () => {
      await rotations?.close();
      await purge.close();
    },
  };
}

/** Signs with a new key as soon as another replica has created it. */
function followRotations({ database, log }: AccountsDependencies, keys: SigningKeys): EventWorker {
  return new EventWorker({
    events: database.events,
    channel: SECRET_CHANNEL,
    work: async (name) => {
      if (name.startsWith(SIGNING_KEY_PREFIX)) await keys.reload();
    },
    workOnAll: () => keys.reload(),
    onError: (err) => log.warn({ err }, 'the signing keys could not be reloaded'),
  });
}
