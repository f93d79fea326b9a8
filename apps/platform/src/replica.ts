import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { masterKeyId } from '@svc/keys';
import {
  createInstallationStore,
  createReplicaStore,
  ReplicaRegistry,
  type Installation,
  type InstallationStore,
} from '@svc/replicas';
import { assertCompatible, type Database } from '@svc/sql';
import type { Logger } from '@svc/telemetry';
import type { PlatformConfig } from './config.ts';
import { mainMigrations, newestMigration } from './databases.ts';
import { loadOrCreateReplicaId, type DataFolder } from './data-folder.ts';
import { masterKeySource, openKeys, type PlatformKeys } from './keys.ts';
import type { Lifecycle } from './lifecycle.ts';
import { VERSION } from './version.ts';

export interface JoinDeps {
  config: PlatformConfig;
  database: Database<unknown>;
  folder: DataFolder;
  log: Logger;
  lifecycle: Lifecycle;
  /** Called if another process has taken over the id of this replica. */
  onTaken: () => void;
}

export interface Membership {
  replica: ReplicaRegistry;
  installation: Installation;
  keys: PlatformKeys;
}

/**
 * Joins the replicas of the database before anything else uses it. Throws REPLICA_ID_IN_USE if another live process has
 * this replica's id, and MASTER_KEY_DIFFERS if the others use another master key.
 */
export async function joinInstallation(deps: JoinDeps): Promise<Membership> {
  const { config, database, folder, log, lifecycle, onTaken } = deps;
  const own = { id: loadOrCreateReplicaId(folder.path), bootId: randomUUID(), place: folder.place, url: null };
  const self = { ...own, host: hostname(), version: VERSION, newestMigration: newestMigration() };
  const store = createReplicaStore(database);
  const replica = new ReplicaRegistry({ store, self, onTaken, log });
  await replica.claim();
  lifecycle.own('replica', () => replica.close());
  // A newer replica that contracts the schema looks for older ones first: it sees this one, or this one sees its schema.
  await assertCompatible(database, mainMigrations(database.dialect));
  const source = masterKeySource(config, folder);
  const keys = await openKeys(config, source);
  const installation = openInstallation(database);
  const { current, others } = keys.master;
  await installation.checkMasterKey({
    current: masterKeyId(current),
    others: others.map(masterKeyId),
    file: source.file,
  });
  return { replica, keys, installation: await installation.open() };
}

export function openInstallation(database: Database<unknown>): InstallationStore {
  return createInstallationStore(database, randomUUID);
}
