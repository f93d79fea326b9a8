import type { Database, Dialect, Migration } from '@svc/sql';
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest';
import { skippedTitle } from './requirement.ts';
import { postgresSource, sqliteSource, type DatabaseSource } from './test-database.ts';

/** URL of the PostgreSQL server for the suites; `svc test postgres` starts one and sets it. */
export const POSTGRES_URL_VARIABLE = 'SVC_TEST_POSTGRES_URL';

/** `true`: skips the SQLite suites, which already ran in another part. */
export const POSTGRES_ONLY_VARIABLE = 'SVC_TEST_POSTGRES_ONLY';

/**
 * Runs a repository suite once per dialect. Each test gets its own migrated database from the given function; it is
 * closed and removed after the test.
 *
 * ```ts
 * describeDialects<Tables>('UserRepository', migrations, (database) => {
 *   it('finds a user by e-mail', async () => {
 *     const users = createUserRepository(database().kysely);
 *   });
 * });
 * ```
 */
export function describeDialects<Tables>(
  name: string,
  migrations: readonly Migration[],
  suite: (database: () => Database<Tables>, dialect: Dialect) => void,
): void {
  const url = process.env[POSTGRES_URL_VARIABLE] ?? '';
  if (sqliteRunsHere()) {
    describe(`${name} on SQLite`, () => {
      withDatabase<Tables>('sqlite', () => sqliteSource(migrations), suite);
    });
  }
  const title = `${name} on PostgreSQL`;
  describe.skipIf(url === '')(url === '' ? skippedTitle(title, `${POSTGRES_URL_VARIABLE} is not set`) : title, () => {
    withDatabase<Tables>('postgres', () => postgresSource(url, migrations), suite);
  });
}

/** False if only the PostgreSQL half of a suite is requested. */
export function sqliteRunsHere(): boolean {
  return process.env[POSTGRES_ONLY_VARIABLE] !== 'true' || (process.env[POSTGRES_URL_VARIABLE] ?? '') === '';
}

function withDatabase<Tables>(
  dialect: Dialect,
  createSource: () => Promise<DatabaseSource>,
  suite: (database: () => Database<Tables>, dialect: Dialect) => void,
): void {
  let source: DatabaseSource | undefined;
  let current: Database<Tables> | undefined;
  beforeAll(async () => {
    source = await createSource();
  });
  afterAll(() => source?.close());
  beforeEach(async () => {
    current = await source?.open<Tables>();
  });
  afterEach(() => current?.close());
  suite(() => {
    if (current === undefined) throw new Error('the database is there only while a test runs');
    return current;
  }, dialect);
}
