import { databaseTime, type Database } from '@svc/sql';
import type { Kysely } from 'kysely';
import { replicaErrors } from './errors.ts';
import type { ReplicaTables } from './tables.ts';

const ONLY_ROW = 1;

/** What all replicas of a database have in common. */
export interface Installation {
  /** Random, made with the database. */
  readonly id: string;
  /** Fingerprint of the master key that seals this database's secrets; null until the first start. */
  readonly masterKeyId: string | null;
}

/** A replica's master keys, by fingerprint. */
export interface MasterKeyIds {
  /** The key that seals. */
  readonly current: string;
  /** Keys that only open, while a key is rotated. */
  readonly others: readonly string[];
  /** The key file, for messages. */
  readonly file: string;
}

/** Stores the facts of the installation. */
export interface InstallationStore {
  /** Reads the installation; the first call on a database creates it. */
  open(): Promise<Installation>;
  /**
   * Records the master key's fingerprint on the first start. Later throws MASTER_KEY_DIFFERS if none of the keys is the
   * recorded one: such a replica could not open what the others seal.
   */
  checkMasterKey(keys: MasterKeyIds): Promise<void>;
  /** Records a new master key. Call it when everything is wrapped by that key, and before the old one is removed. */
  setMasterKey(id: string): Promise<void>;
}

/** Creates the store on the table of migration 0101. `newId` is called once per database. */
export function createInstallationStore(
  { kysely: given, dialect }: Database<unknown>,
  newId: () => string,
): InstallationStore {
  const kysely = given as Kysely<ReplicaTables>; // the platform's database has every package's tables
  const open = async (): Promise<Installation> => {
    const row = { number: ONLY_ROW, id: newId(), master_key_id: null, created_at: databaseTime(dialect) };
    await kysely
      .insertInto('installation')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const { id, master_key_id: masterKeyId } = await kysely
      .selectFrom('installation')
      .select(['id', 'master_key_id'])
      .executeTakeFirstOrThrow();
    return { id, masterKeyId };
  };
  return {
    open,

    async checkMasterKey({ current, others, file }) {
      await open();
      await kysely
        .updateTable('installation')
        .set({ master_key_id: current })
        .where('master_key_id', 'is', null)
        .execute();
      const { masterKeyId } = await open();
      if (masterKeyId === null || [current, ...others].includes(masterKeyId)) return;
      throw replicaErrors.MASTER_KEY_DIFFERS({ details: { found: current, expected: masterKeyId, file } });
    },

    async setMasterKey(id) {
      await open();
      await kysely.updateTable('installation').set({ master_key_id: id }).execute();
    },
  };
}
