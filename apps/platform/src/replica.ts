import { randomUUID } from 'node:crypto';
import { masterKeyId } from '@svc/keys';
import { createInstallationStore, createReplicaStore, ReplicaRegistry, type Installation } from '@svc/replicas';
import type { Database } from '@svc/sql';
import type { Logger } from '@svc/telemetry';
import { loadOrCreateReplicaId, type DataFolder } from './data-folder.ts';
import type { MasterKeySource, MasterKeys } from '@svc/keys';
import { VERSION } from './version.ts';

export interface ReplicaDeps {
  database: Database<unknown>;
  folder: DataFolder;
  log: Logger;
  /** Called if another process has taken over the id of this replica. */
  onTaken: () => void;
}

/** Claims this replica's id. Throws REPLICA_ID_IN_USE if another live process has it. */
export async function claimReplica({ database, folder, log, onTaken }: ReplicaDeps): Promise<ReplicaRegistry> {
  const registry = new ReplicaRegistry({
    store: createReplicaStore(database),
    self: {
      id: loadOrCreateReplicaId(folder.path),
      bootId: randomUUID(),
      place: folder.place,
      url: null,
      version: VERSION,
    },
    onTaken,
    log,
  });
  await registry.claim();
  return registry;
}

/** Reads the installation, and refuses master keys other than those of its other replicas. */
export async function openInstallation(
  database: Database<unknown>,
  { current, others }: MasterKeys,
  { file }: Pick<MasterKeySource, 'file'>,
): Promise<Installation> {
  const installation = createInstallationStore(database, randomUUID);
  await installation.checkMasterKey({ current: masterKeyId(current), others: others.map(masterKeyId), file });
  return installation.open();
}
