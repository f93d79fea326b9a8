import { sql, type RawBuilder } from 'kysely';
import type { Dialect } from './database.ts';

/**
 * SQL for the database's own time plus an offset, as ISO 8601 in UTC with milliseconds. Processes whose clocks differ
 * agree on it, so leases in a shared database use it. It advances within a transaction.
 *
 * @example
 *   await kysely
 *     .updateTable('lease')
 *     .set({ expires_at: databaseTime(dialect, 10_000) })
 *     .where('expires_at', '<=', databaseTime(dialect))
 *     .execute();
 */
export function databaseTime(dialect: Dialect, offsetMs = 0): RawBuilder<string> {
  if (dialect === 'sqlite') {
    return sql<string>`strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${sql.lit(`${offsetMs / 1_000} seconds`)})`;
  }
  const offset = sql.lit(`${offsetMs} milliseconds`);
  return sql<string>`to_char((clock_timestamp() + ${offset}::interval) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
