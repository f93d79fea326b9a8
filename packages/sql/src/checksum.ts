import { createHash } from 'node:crypto';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Dialect as KyselyDialect,
} from 'kysely';
import type { Dialect } from './database.ts';
import type { Migration } from './migration.ts';

/**
 * Hashes the compiled statements of `up`, not its source: reformatting or bundling does not change it, but a changed
 * column does. Migrations therefore only define; they never read rows.
 */
export async function computeChecksum(migration: Migration, dialect: Dialect): Promise<string> {
  const statements: string[] = [];
  const recorder = new Kysely<unknown>({
    dialect: dialect === 'sqlite' ? recordingSqlite : recordingPostgres,
    log: (event) => void statements.push(event.query.sql),
  });
  await migration.up(recorder, dialect);
  return createHash('sha256').update(statements.join(';\n')).digest('hex').slice(0, 32);
}

const recordingSqlite: KyselyDialect = {
  createAdapter: () => new SqliteAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (database) => new SqliteIntrospector(database),
  createQueryCompiler: () => new SqliteQueryCompiler(),
};

const recordingPostgres: KyselyDialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (database) => new PostgresIntrospector(database),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};
