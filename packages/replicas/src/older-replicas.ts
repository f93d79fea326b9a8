import { databaseTime, type Contraction, type Dialect } from '@svc/sql';
import type { Kysely } from 'kysely';
import { replicaErrors } from './errors.ts';
import type { ReplicaTables } from './tables.ts';

/** The process that is about to contract the schema. */
export interface ContractingProcess {
  readonly dialect: Dialect;
  /** Its locked data folder, whose earlier process has ended; null if it holds none, or the machine cannot tell. */
  readonly place: string | null;
}

/**
 * Throws REPLICAS_TOO_OLD, which names them, if live replicas do not know the migration that a contraction requires.
 * Call it in the transaction of the contraction.
 */
export async function assertNoOlderReplicas(
  transaction: Kysely<unknown>,
  { name, contractsAfter }: Contraction,
  { dialect, place }: ContractingProcess,
): Promise<void> {
  const rows = await (transaction as Kysely<ReplicaTables>) // the platform's database has every package's tables
    .selectFrom('replica')
    .select(['id', 'version', 'url', 'started_at', 'place', 'newest_migration'])
    .where('expires_at', '>', databaseTime(dialect))
    .orderBy('id')
    .execute();
  const older = rows.filter(({ newest_migration: newest }) => newest === null || newest < contractsAfter);
  const running = older.filter((row) => row.place === null || row.place !== place);
  if (running.length === 0) return;
  const replicas = running.map(
    ({ id, version, url, started_at: at }) =>
      `${id} (version ${version}, ${url === null ? '' : `at ${url}, `}since ${at})`,
  );
  throw replicaErrors.REPLICAS_TOO_OLD({ details: { name, required: contractsAfter, replicas: replicas.join(', ') } });
}
