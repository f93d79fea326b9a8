import { DatabaseSync } from 'node:sqlite';
import { Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sqliteDialect } from './sqlite-dialect.ts';
import { SqliteEvents } from './sqlite-events.ts';

interface Tables {
  item: { id: number; name: string };
}

describe('the SQLite statement cache', () => {
  let database: DatabaseSync;
  let kysely: Kysely<Tables>;
  let compiled: string[];

  beforeEach(async () => {
    compiled = [];
    database = new (class extends DatabaseSync {
      override prepare(text: string) {
        compiled.push(text);
        return super.prepare(text);
      }
    })(':memory:');
    kysely = new Kysely<Tables>({
      dialect: sqliteDialect({ database, events: new SqliteEvents(database, () => undefined), log: null }),
    });
    await sql`create table item (id integer primary key, name text not null)`.execute(kysely);
    compiled = [];
  });
  afterEach(() => database.close());

  const insert = (id: number): Promise<unknown> =>
    kysely.transaction().execute((transaction) =>
      transaction
        .insertInto('item')
        .values({ id, name: `n${id}` })
        .execute(),
    );

  it('compiles a statement once for different values', async () => {
    for (const id of [1, 2, 3]) await insert(id);
    expect(compiled.map((text) => text.split(' ')[0])).toEqual(['begin', 'insert', 'commit']);
    const read = (id: number) => kysely.selectFrom('item').select('name').where('id', '=', id).executeTakeFirst();
    expect([await read(1), await read(3), await read(4)]).toEqual([{ name: 'n1' }, { name: 'n3' }, undefined]);
    expect(compiled).toHaveLength(4);
  });

  it('keeps working after a statement fails', async () => {
    await insert(1);
    await expect(insert(1)).rejects.toThrow(/UNIQUE/);
    await insert(2);
    expect(compiled.filter((text) => text.startsWith('insert'))).toHaveLength(1);
    expect(await kysely.selectFrom('item').select('id').execute()).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it('shows columns added after compilation, and drops removed ones', async () => {
    await insert(1);
    const all = () => kysely.selectFrom('item').selectAll().execute();
    expect(await all()).toEqual([{ id: 1, name: 'n1' }]);
    await sql`alter table item add column size integer default 7`.execute(kysely);
    expect(await all()).toEqual([{ id: 1, name: 'n1', size: 7 }]);
    await sql`alter table item drop column name`.execute(kysely);
    expect(await all()).toEqual([{ id: 1, size: 7 }]);
  });

  it('is bounded and keeps the most recently used statements', async () => {
    const read = (limit: number) => sql`select * from item limit ${sql.lit(limit)}`.execute(kysely);
    for (let limit = 0; limit < 200; limit += 1) await read(limit);
    compiled = [];
    await read(199);
    expect(compiled).toHaveLength(0);
    await read(0);
    expect(compiled).toHaveLength(1);
  });

  it('restarts a statement after a reader took only one row', async () => {
    for (const id of [1, 2, 3]) await insert(id);
    const query = kysely.selectFrom('item').select('id').orderBy('id');
    for await (const { id } of query.stream()) {
      expect(id).toBe(1);
      break;
    }
    expect(await query.execute()).toHaveLength(3);
    await insert(4);
    expect(await query.execute()).toHaveLength(4);
  });
});
