import { databaseTime, type Database } from '@svc/sql';
import { sql, type Kysely } from 'kysely';
import type { Replica, ReplicaStore } from './replica.ts';
import type { ReplicaTables } from './tables.ts';

/** How long a replica counts as live after its last renewal. */
export const REPLICA_LEASE_MS = 10_000;

/** A row that a claim meets may be pruned before it is read. */
const MAX_CLAIMS = 5;

/** Creates the store on the table of migrations 0100, 0130 and 0142. */
export function createReplicaStore({ kysely: given, dialect }: Database<unknown>): ReplicaStore {
  const kysely = given as Kysely<ReplicaTables>; // the platform's database has every package's tables
  const now = databaseTime(dialect);
  const end = databaseTime(dialect, REPLICA_LEASE_MS);
  const rows = () =>
    kysely
      .selectFrom('replica')
      .select(['id', 'boot_id', 'url', 'host', 'version', 'started_at', 'seen_at', 'expires_at', now.as('now')]);
  const find = async (id: string): Promise<Replica | null> => {
    const row = await rows().where('id', '=', id).executeTakeFirst();
    return row === undefined ? null : fromRow(row);
  };
  return {
    find,

    async claim({ id, bootId, place, url, host, version, newestMigration }) {
      const times = { started_at: now, seen_at: now, expires_at: end };
      const values = { boot_id: bootId, place, url, host, version, newest_migration: newestMigration, ...times };
      for (let attempt = 1; attempt <= MAX_CLAIMS; attempt += 1) {
        const taken = await kysely
          .insertInto('replica')
          .values({ id, ...values })
          .onConflict((conflict) =>
            conflict
              .column('id')
              .doUpdateSet(values)
              .where((where) =>
                where.or([
                  where('replica.expires_at', '<=', now),
                  where('replica.boot_id', '=', bootId),
                  where('replica.place', '=', place), // never true for null
                ]),
              ),
          )
          .returning('id')
          .executeTakeFirst();
        if (taken !== undefined) return null;
        const owner = await find(id);
        if (owner !== null) return owner;
      }
      throw new Error(`the row of replica ${id} appears and disappears`);
    },

    async renew(id, bootId) {
      const renewed = await kysely
        .updateTable('replica')
        .set({ seen_at: now, expires_at: end })
        .where('id', '=', id)
        .where('boot_id', '=', bootId)
        .returning('seen_at')
        .executeTakeFirst();
      return renewed?.seen_at ?? null;
    },

    async advertise(id, bootId, url) {
      await kysely.updateTable('replica').set({ url }).where('id', '=', id).where('boot_id', '=', bootId).execute();
    },

    async release(id, bootId) {
      await kysely
        .updateTable('replica')
        .set({ seen_at: now, expires_at: now })
        .where('id', '=', id)
        .where('boot_id', '=', bootId)
        .execute();
    },

    list: async () => (await rows().orderBy('id').execute()).map(fromRow),

    async prune(silentMs) {
      await kysely
        .deleteFrom('replica')
        .where('seen_at', '<', databaseTime(dialect, -silentMs))
        .where('expires_at', '<=', sql<string>`${now}`)
        .execute();
    },
  };
}

function fromRow(row: Omit<ReplicaTables['replica'], 'place' | 'newest_migration'> & { now: string }): Replica {
  return {
    id: row.id,
    bootId: row.boot_id,
    url: row.url,
    host: row.host,
    version: row.version,
    startedAt: row.started_at,
    seenAt: row.seen_at,
    isLive: row.expires_at > row.now,
    leaseLeftMs: Math.max(0, Date.parse(row.expires_at) - Date.parse(row.now)),
    silentMs: Math.max(0, Date.parse(row.now) - Date.parse(row.seen_at)),
  };
}
