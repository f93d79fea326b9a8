import type { Migration } from '@svc/sql';
import { expect, it } from 'vitest';
import { describeDialects } from './describe-dialects.ts';

interface Tables {
  note: { id: string; size_bytes: number };
}

const notes: Migration = {
  name: '0001-note',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('note')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('size_bytes', 'bigint', (column) => column.notNull())
      .execute();
  },
};

describeDialects<Tables>('describeDialects', [notes], (database, dialect) => {
  it('gives a migrated database of the dialect it names', async () => {
    await database()
      .kysely.insertInto('note')
      .values({ id: 'a', size_bytes: 2 ** 40 })
      .execute();
    expect(await database().kysely.selectFrom('note').selectAll().execute()).toEqual([
      { id: 'a', size_bytes: 2 ** 40 },
    ]);
    expect(database().dialect).toBe(dialect);
  });

  it('gives every test a database of its own', async () => {
    expect(await database().kysely.selectFrom('note').selectAll().execute()).toEqual([]);
  });
});
