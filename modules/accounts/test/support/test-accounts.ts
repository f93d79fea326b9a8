import { createSecretKey, randomBytes } from 'node:crypto';
import { CompiledSchemas, createHttpApp, type HttpApp } from '@svc/http';
import { createLocalKeyWrapper, type KeyWrapper } from '@svc/keys';
import type { Database } from '@svc/sql';
import { createLogger, createMetrics, type Metrics } from '@svc/telemetry';
import { type FakeClock, fakeClock, temporaryFolder } from '@svc/testing';
import type { AccountsConfig } from '../../src/config.ts';
import { type AccountsModule, createAccountsModule } from '../../src/module.ts';
import type { Fetch } from '../../src/adapters/oidc/jwks-cache.ts';
import { createAccountDatabase } from '../../src/store/account-database.ts';
import type { QuotaSource } from '../../src/domain/quotas/account-quotas.ts';
import type { AccountDatabase } from '../../src/domain/stores.ts';
import { testConfig } from './test-config.ts';

export interface TestAccounts {
  app: HttpApp;
  module: AccountsModule;
  database: AccountDatabase;
  clock: FakeClock;
  metrics: Metrics;
  /** The contents of workspaces, and a callback that runs while they are checked. */
  holdings: Map<string, readonly string[]>;
  inside: { whileLooking: () => Promise<void> };
  dataFolder: string;
  close(): Promise<void>;
}

export interface TestAccountsOptions {
  config?: AccountsConfig;
  fetch?: Fetch;
  quotas?: QuotaSource;
  /** Routes besides the module's own. */
  extraRoutes?: (app: HttpApp) => void;
}

/** Of all apps of a process, which saves a tenth of the tests' processor time. */
const schemas = new CompiledSchemas();

/** The module with a fake clock behind the real HTTP app, over a database from the suite. */
export async function startTestAccounts<Tables>(
  database: Database<Tables>,
  options: TestAccountsOptions = {},
): Promise<TestAccounts> {
  const folder = await temporaryFolder('svc-accounts-');
  const clock = fakeClock();
  const log = createLogger({ level: 'silent', name: 'test' });
  const metrics = createMetrics();
  const holdings = new Map<string, readonly string[]>();
  const inside = { whileLooking: async (): Promise<void> => undefined };
  const module = await createAccountsModule({
    database: { ...database, kysely: database.kysely as never }, // the module sees only its own tables
    config: options.config ?? testConfig(),
    keyWrapper: keyWrapperFor(database),
    dataFolder: folder.path,
    log,
    metrics,
    publicUrl: () => 'http://console.test',
    workspaceHoldings: async (uuid) => {
      await inside.whileLooking();
      return holdings.get(uuid) ?? [];
    },
    clock,
    ...(options.quotas === undefined ? {} : { quotas: options.quotas }),
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
  });
  const { access, audit } = module;
  const app = await createHttpApp({
    schemas,
    log,
    metrics,
    access,
    audit,
    version: '0.0.0',
    trustedProxies: ['127.0.0.1'],
    nowMs: () => clock.nowMs(),
  });
  await module.registerRoutes(app);
  options.extraRoutes?.(app);
  await app.ready();
  return {
    app,
    module,
    database: createAccountDatabase(database),
    clock,
    metrics,
    holdings,
    inside,
    dataFolder: folder.path,
    close: async () => {
      await app.close();
      await module.close();
      await folder.remove();
    },
  };
}

const keyWrappers = new WeakMap<object, KeyWrapper>();

/** One master key per database: replicas on it open what others wrapped, also after a restart. */
export function keyWrapperFor(database: object): KeyWrapper {
  const known = keyWrappers.get(database);
  if (known !== undefined) return known;
  const current = createSecretKey(randomBytes(32));
  const made = createLocalKeyWrapper({ loadMasterKeys: async () => ({ current, others: [] }), random: randomBytes });
  keyWrappers.set(database, made);
  return made;
}
