import { describeDialects } from '@svc/testing';
import { sql, type Kysely } from 'kysely';
import { describe, expect, it } from 'vitest';
import { computeChecksum } from './checksum.ts';
import type { Database } from './database.ts';
import { assertCompatible, assertNothingNewer, migrate, type MigrateOptions } from './migrate.ts';
import { type Migration } from './migration.ts';

type AnyDatabase = Database<Record<string, Record<string, unknown>>>;

function creating(name: string, table: string, column = 'id'): Migration {
  return {
    name,
    target: 'platform',
    up: async (kysely) => {
      await kysely.schema.createTable(table).addColumn(column, 'text').execute();
    },
  };
}

const first = creating('0001-first', 'first');
const second = creating('0002-second', 'second');
const third = creating('0003-third', 'third');
const contracting: Migration = { ...third, contractsAfter: '0002-second' };

describeDialects<Record<string, Record<string, unknown>>>('migrate', [], (database, dialect) => {
  /** What migrations before one that failed have left: on SQLite, all are one transaction. */
  const left = (...tables: string[]): string[] => (dialect === 'sqlite' ? [] : tables);
  const run = (...migrations: Migration[]) => migrate(database(), migrations);

  it('runs each migration once, in name order', async () => {
    expect(await run(second, first)).toEqual(['0001-first', '0002-second']);
    expect(await run(first, second)).toEqual([]);
    expect(await run(first, second, third)).toEqual(['0003-third']);
    expect(await listTables(database())).toEqual(['first', 'schema_migration', 'second', 'third']);
  });

  it('records when each ran and what it compiled to', async () => {
    await migrate(database(), [first], { now: () => new Date('2026-01-02T03:04:05.678Z') });
    expect(await database().kysely.selectFrom('schema_migration').selectAll().execute()).toEqual([
      {
        name: '0001-first',
        checksum: expect.stringMatching(/^[0-9a-f]{32}$/),
        applied_at: '2026-01-02T03:04:05.678Z',
        contracts_after: null,
      },
    ]);
  });

  it('accepts a newer schema that only expanded', async () => {
    await run(first, second, third);
    expect(await run(first)).toEqual([]);
    await assertCompatible(database(), [first]);
  });

  it('tells work that must see all data of a newer schema', async () => {
    await assertNothingNewer(database(), [first]);
    await run(first, second);
    await assertNothingNewer(database(), [first, second]);
    await expect(assertNothingNewer(database(), [first])).rejects.toMatchObject({
      code: 'SCHEMA_AHEAD',
      details: { name: '0002-second' },
    });
  });

  it('rejects a schema that contracted after what this version knows, before writing anything', async () => {
    await run(first, second, contracting);
    const refusal = { code: 'SCHEMA_NEWER', details: { name: '0003-third', required: '0002-second' } };
    await expect(run(first)).rejects.toMatchObject(refusal);
    await expect(assertCompatible(database(), [first])).rejects.toMatchObject(refusal);
    expect(await run(first, second)).toEqual([]);
    await assertCompatible(database(), [first, second]);
  });

  it('rejects a migration that it does not know before one that it knows', async () => {
    await run(first, second);
    await expect(run(first, third)).rejects.toMatchObject({
      code: 'SCHEMA_DIVERGED',
      details: { name: '0002-second' },
    });
    expect(await listTables(database())).toEqual(['first', 'schema_migration', 'second']);
  });

  it('rejects a newer schema by a version that declared nothing', async () => {
    await createOldTable(database());
    await expect(run(first)).rejects.toMatchObject({ code: 'SCHEMA_NEWER', details: { name: '0002-second' } });
  });

  it('adds the declaration to the table of an earlier version, which goes on writing it', async () => {
    await createOldTable(database());
    expect(await run(first, second, contracting)).toEqual(['0003-third']);
    expect(await readDeclarations(database())).toEqual([null, null, '0002-second']);
    const row = { name: '0004-old', checksum: 'c', applied_at: 'then' };
    await database().kysely.insertInto('schema_migration').values(row).execute();
    expect(await readDeclarations(database())).toEqual([null, null, '0002-second', null]);
  });

  it('asks before each contracting migration, and stays as it was if that is refused', async () => {
    const asked: unknown[] = [];
    const beforeContraction: MigrateOptions['beforeContraction'] = async (contraction, transaction) => {
      asked.push(contraction);
      await sql`select 1 from second`.execute(transaction); // inside the transaction, after what ran before
      throw new Error('an older version runs');
    };
    const migrations = [first, second, contracting, creating('0004-fourth', 'fourth')];
    await expect(migrate(database(), migrations, { beforeContraction })).rejects.toThrow('an older version runs');
    expect(asked).toEqual([{ name: '0003-third', contractsAfter: '0002-second' }]);
    expect(await listTables(database())).toEqual(left('first', 'schema_migration', 'second'));
    const rest = await migrate(database(), migrations, { beforeContraction: async () => undefined });
    expect(rest).toEqual([...(dialect === 'sqlite' ? ['0001-first', '0002-second'] : []), '0003-third', '0004-fourth']);
    expect(await migrate(database(), migrations, { beforeContraction })).toEqual([]);
  });

  it('rejects a migration that contracts after a later one', async () => {
    const backwards: Migration = { ...first, contractsAfter: '0002-second' };
    await expect(run(backwards, second)).rejects.toThrow('0001-first contracts after 0002-second, which is later');
  });

  it('rejects a migration that changed after it ran, and runs nothing after it', async () => {
    await run(first);
    await expect(run(creating('0001-first', 'first', 'other'), second)).rejects.toMatchObject({
      code: 'MIGRATION_CHANGED',
      details: { name: '0001-first' },
    });
    expect(await listTables(database())).toEqual(['first', 'schema_migration']);
  });

  it('rejects a gap: a migration that sorts before one that already ran', async () => {
    await run(first, third);
    await expect(run(first, second, third)).rejects.toMatchObject({
      code: 'MIGRATION_ORDER',
      details: { name: '0002-second' },
    });
    expect(await listTables(database())).toEqual(['first', 'schema_migration', 'third']);
  });

  it('rejects two migrations with the same name', async () => {
    await expect(run(first, creating('0001-first', 'twin'))).rejects.toThrow('two migrations are named 0001-first');
  });

  it('rolls back a migration that fails midway, and runs it whole the next time', async () => {
    const failing: Migration = {
      ...second,
      up: async (kysely) => {
        await second.up(kysely, 'sqlite');
        await kysely.schema.createIndex('by_nothing').on('absent').column('nothing').execute();
      },
    };
    await expect(run(first, failing)).rejects.toThrow(/absent/);
    expect(await listTables(database())).toEqual(left('first', 'schema_migration'));
    expect((await run(first, second)).at(-1)).toBe('0002-second');
    expect(await listTables(database())).toEqual(['first', 'schema_migration', 'second']);
  });

  it('accepts concurrent calls: one runs the migrations, the others find them done', async () => {
    const results = await Promise.all(Array.from({ length: 5 }, () => run(first, second)));
    expect(results.flat().toSorted()).toEqual(['0001-first', '0002-second']);
  });
});

describe('a migration’s checksum', () => {
  it('covers its statements, so that the names and layout of its source may change', async () => {
    const rewritten: Migration = {
      name: '0001-first',
      target: 'platform',
      async up(anyName: Kysely<unknown>) {
        // The same statement, written differently.
        const table = anyName.schema.createTable('first');
        await table.addColumn('id', 'text').execute();
      },
    };
    expect(await computeChecksum(rewritten, 'sqlite')).toBe(await computeChecksum(first, 'sqlite'));
    expect(await computeChecksum(creating('0001-first', 'first', 'other'), 'sqlite')).not.toBe(
      await computeChecksum(first, 'sqlite'),
    );
  });
});

/** As versions before decision 0048 left it, with the first two migrations. */
async function createOldTable({ kysely, dialect }: AnyDatabase): Promise<void> {
  await sql`create table schema_migration (name text primary key, checksum text not null, applied_at text not null)`.execute(
    kysely,
  );
  for (const migration of [first, second]) {
    const row = { name: migration.name, checksum: await computeChecksum(migration, dialect), applied_at: 'then' };
    await kysely.insertInto('schema_migration').values(row).execute();
  }
}

async function readDeclarations({ kysely }: AnyDatabase): Promise<unknown[]> {
  const rows = await kysely.selectFrom('schema_migration').select('contracts_after').orderBy('name').execute();
  return rows.map((row) => row['contracts_after']);
}

async function listTables({ kysely, dialect }: AnyDatabase): Promise<string[]> {
  const query =
    dialect === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`;
  return (await query.execute(kysely)).rows.map((row) => row.name).toSorted();
}
