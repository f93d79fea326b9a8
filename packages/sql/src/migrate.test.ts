import { describeDialects } from '@svc/testing';
import { sql, type Kysely } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
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

describeDialects<Record<string, Record<string, unknown>>>('migrate', [], (database) => {
  const run = (...migrations: Migration[]) => migrate(database(), migrations);

  it('runs each migration once, in name order', async () => {
    expect(await run(second, first)).toEqual(['0001-first', '0002-second']);
    expect(await run(first, second)).toEqual([]);
    expect(await run(first, second, third)).toEqual(['0003-third']);
    expect(await listTables(database())).toEqual(['first', 'schema_migration', 'second', 'third']);
  });

  it('records when each ran and what it compiled to', async () => {
    await migrate(database(), [first], () => new Date('2026-01-02T03:04:05.678Z'));
    expect(await database().kysely.selectFrom('schema_migration').selectAll().execute()).toEqual([
      { name: '0001-first', checksum: expect.stringMatching(/^[0-9a-f]{32}$/), applied_at: '2026-01-02T03:04:05.678Z' },
    ]);
  });

  it('rejects a newer schema before writing anything', async () => {
    await run(first, second);
    await expect(run(first)).rejects.toMatchObject({ code: 'SCHEMA_NEWER', details: { name: '0002-second' } });
    // 0003 could run here if each migration were checked on its own.
    await expect(run(first, third)).rejects.toMatchObject({ code: 'SCHEMA_NEWER' });
    expect(await listTables(database())).toEqual(['first', 'schema_migration', 'second']);
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
    expect(await listTables(database())).toEqual(['first', 'schema_migration']);
    expect(await run(first, second)).toEqual(['0002-second']);
  });

  it('accepts concurrent calls: one runs the migrations, the others find them done', async () => {
    const results = await Promise.all(Array.from({ length: 5 }, () => run(first, second)));
    expect(results.flat().toSorted()).toEqual(['0001-first', '0002-second']);
  });
});

describe('a migration’s checksum', () => {
  it('covers its statements, so that the names and layout of its source may change', async () => {
    const { computeChecksum } = await import('./checksum.ts');
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

async function listTables({ kysely, dialect }: AnyDatabase): Promise<string[]> {
  const query =
    dialect === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
      : sql<{ name: string }>`select tablename as name from pg_tables where schemaname = 'public'`;
  return (await query.execute(kysely)).rows.map((row) => row.name).toSorted();
}
