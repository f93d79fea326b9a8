import { existsSync } from 'node:fs';
import { createAccountsModule, type AccountsModule, type ChainPoint, type ChainReport } from '@svc/accounts';
import { beginMasterKeyChange, masterKeyId, type MasterKeyChange } from '@svc/keys';
import { normalizeHostname } from '@svc/object-store';
import { createSealedSecrets } from '@svc/replicas';
import { rewrapSandboxSecrets } from '@svc/sandboxes';
import { formatAmount, parseLimit, type Limit, type QuotaScope } from '@svc/quotas';
import { createLogger, createMetrics } from '@svc/telemetry';
import type { PlatformConfig } from './config.ts';
import { openDatabasesForCommand, type Databases } from './databases.ts';
import { dataFolderPaths } from './data-folder.ts';
import { readOwnerFile, writeOwnerFile } from './owner-file.ts';
import { startErrors } from './errors.ts';
import { Endpoints } from './endpoints.ts';
import { renewInternalAuthority } from './internal-identity.ts';
import { masterKeySource, openKeys } from './keys.ts';
import { openMetadata } from './object-store/open-store.ts';
import { rewrapStoreKeys } from './object-store/store-keys.ts';
import { openInstallation } from './replica.ts';
import { quotaCatalogue } from './quota-catalogue.ts';
import { createQuotaSource, thisMachine } from './quotas.ts';

/** Works beside a running platform or without one; does not take the lock. */
export async function resetPassword(config: PlatformConfig, email: string, password: string): Promise<void> {
  await withAccounts(config, (accounts) => accounts.resetPassword(email, password));
  const { ownerFile } = dataFolderPaths(config.data);
  const owner = await readOwnerFile(ownerFile);
  // The generated password of the first start is no longer valid.
  if (owner?.email.toLowerCase() === email.toLowerCase()) await writeOwnerFile(ownerFile, { ...owner, password: null });
}

/** Creates a single-use link with which a user sets a password that the operator never learns. */
export function createPasswordLink(config: PlatformConfig, email: string): Promise<{ url: string; expiresAt: string }> {
  return withAccounts(config, (accounts) => accounts.createPasswordLink(email));
}

/** Creates a new signing key for access tokens. */
export function rotateTokenKeys(config: PlatformConfig): Promise<{ keyId: string }> {
  return withAccounts(config, async (accounts) => ({ keyId: await accounts.rotateKeys() }));
}

/**
 * Changes the master key: rewraps everything under the new one, then removes the old one. If interrupted, running it
 * again continues; until then both keys are readable.
 */
export async function changeMasterKey(config: PlatformConfig): Promise<{ id: string }> {
  const folder = dataFolderPaths(config.data);
  const change = await beginMasterKeyChange(masterKeySource(config, folder));
  await withAccounts(config, (accounts) => accounts.rewrapAuditKey(), change);
  await rewrapStoreKeys(config, change);
  await rewrapSecrets(config, change);
  const id = masterKeyId(change.keys.current);
  // Before the old key is removed: until then a start has both keys and accepts either.
  await withDatabases(config, ({ main }) => openInstallation(main).setMasterKey(id));
  await change.finish();
  return { id };
}

async function rewrapSecrets(config: PlatformConfig, change: MasterKeyChange): Promise<void> {
  await withDatabases(config, async ({ main }, folder) => {
    const { local } = await openKeys(config, masterKeySource(config, folder), async () => change.keys);
    const secrets = createSealedSecrets(main, local);
    // A replica may have written under the old key meanwhile.
    while ((await secrets.rewrap()) + (await rewrapSandboxSecrets(main, local)) > 0) continue;
  });
}

/**
 * Announces a new authority for the certificates of replicas, and returns the time from which they use it. Null if there
 * is none, because no replica has listened for others yet.
 */
export async function rotateInternalAuthority(config: PlatformConfig): Promise<{ usedFrom: Date } | null> {
  return await withDatabases(config, async ({ main }, folder) => {
    const { local } = await openKeys(config, masterKeySource(config, folder));
    const usedFrom = await renewInternalAuthority(createSealedSecrets(main, local), Date.now());
    return usedFrom === null ? null : { usedFrom };
  });
}

/** Reads the whole audit log and recomputes every link. */
export function verifyAudit(config: PlatformConfig, anchor?: ChainPoint): Promise<ChainReport> {
  return withAccounts(config, (accounts) => accounts.verifyAudit(anchor));
}

/** Blocks or unblocks a custom domain, whoever registers it; takes effect on a running platform within a second. */
export async function setDomainBlocked(config: PlatformConfig, host: string, blocked: boolean): Promise<string> {
  const hostname = normalizeHostname(host, []);
  await withDatabases(config, async (databases, folder) => {
    const metadata = await openMetadata(databases.main, folder);
    try {
      await metadata.setDomainBlocked({ hostname, blocked, nowMs: Date.now() });
    } finally {
      await metadata.close();
    }
  });
  return hostname;
}

/** A quota scope as named by an operator: a workspace (UUID) or an owner (e-mail). */
export interface QuotaTarget {
  readonly scope: QuotaScope;
  readonly subject: string;
}

/**
 * Every quota with its effective limit for the workspace or owner; without a target, all limits that the operator has
 * set.
 */
export function listQuotas(config: PlatformConfig, target: QuotaTarget | null): Promise<readonly QuotaRow[]> {
  return withAccounts(config, async ({ quotas }) => {
    const overrides = await quotas.list();
    if (target === null) {
      return overrides.map(({ scope, subject, quota, amount }) => rowOf(scope, subject, quota, amount, true));
    }
    const { scope, subject } = await quotas.resolve(target.scope, target.subject);
    const own = overrides.filter((each) => each.scope === scope && each.subject === subject);
    return (await quotas.ofSubject({ scope, subject })).map(({ quota, limit }) =>
      rowOf(
        scope,
        target.subject,
        quota.name,
        limit,
        own.some((each) => each.quota === quota.name),
      ),
    );
  });
}

export interface QuotaRow extends QuotaTarget {
  readonly quota: string;
  readonly limit: Limit;
  /** The formatted limit. */
  readonly text: string;
  /** False: the default. */
  readonly isSet: boolean;
}

/** Takes effect on a running platform within a second. Returns the formatted limit. */
export function setQuota(config: PlatformConfig, target: QuotaTarget, name: string, text: string): Promise<string> {
  return withAccounts(config, async ({ quotas, auditCommand }) => {
    const subject = await quotas.resolve(target.scope, target.subject);
    const quota = quotaCatalogue.find(name);
    const limit = quota === undefined ? null : parseLimit(quota.unit, text);
    if (limit === undefined) throw startErrors.INVALID_LIMIT({ details: { text, quota: name } });
    const { amount } = await quotas.set(subject, name, limit); // throws for an unknown name
    await auditCommand('quota:update', resourceOf(subject, name), { limit: amount });
    return formatAmount(quota?.unit ?? 'count', amount);
  });
}

/** Restores the default. */
export function unsetQuota(config: PlatformConfig, target: QuotaTarget, name: string): Promise<void> {
  return withAccounts(config, async ({ quotas, auditCommand }) => {
    const subject = await quotas.resolve(target.scope, target.subject);
    await quotas.unset(subject, name);
    await auditCommand('quota:update', resourceOf(subject, name), { limit: 'default' });
  });
}

function resourceOf({ scope, subject }: QuotaTarget, name: string): string {
  return `quota/${scope}/${subject}/${name}`;
}

function rowOf(scope: QuotaScope, subject: string, quota: string, limit: Limit, isSet: boolean): QuotaRow {
  const text = formatAmount(quotaCatalogue.find(quota)?.unit ?? 'count', limit);
  return { scope, subject, quota, limit, text, isSet };
}

async function withAccounts<Result>(
  config: PlatformConfig,
  work: (accounts: AccountsModule) => Promise<Result>,
  change?: MasterKeyChange,
): Promise<Result> {
  // Without a public address, use the configured ports; those chosen by a running platform are unknown here.
  const endpoints = new Endpoints(config);
  return await withDatabases(config, async (databases, folder) => {
    const load = change === undefined ? undefined : async () => change.keys;
    const keys = await openKeys(config, masterKeySource(config, folder), load);
    const accounts = await createAccountsModule({
      database: databases.main,
      config: config.accounts,
      keyWrapper: keys.local,
      dataFolder: folder.path,
      log: createLogger({ ...config.log, name: 'svc' }),
      metrics: createMetrics(),
      publicUrl: () => endpoints.url,
      quotas: createQuotaSource(config, thisMachine(folder.path), async () => ({})),
    });
    try {
      return await work(accounts);
    } finally {
      await accounts.close();
    }
  });
}

async function withDatabases<Result>(
  config: PlatformConfig,
  work: (databases: Databases, folder: ReturnType<typeof dataFolderPaths>) => Promise<Result>,
): Promise<Result> {
  const folder = dataFolderPaths(config.data);
  if (config.database.url === undefined && !existsSync(folder.databaseFile)) {
    throw startErrors.NO_PLATFORM_THERE({ details: { path: folder.path } });
  }
  const databases = await openDatabasesForCommand(config, folder);
  try {
    return await work(databases, folder);
  } finally {
    await databases.main.close();
  }
}
