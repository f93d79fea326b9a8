import { describe, expect, it } from 'vitest';
import { openDatabase } from './database.ts';
import { migrate, type Migration } from './migrate.ts';
const first: Migration = {
  name: '0001-a',
  target: 'platform',
  up: async (db) => {
    await db.schema.createTable('thing').addColumn('id', 'text').execute();
  },
};
describe('migrate', () => {
  it('runs once', async () => {
    const database = openDatabase<unknown>({});
    expect(await migrate(database, [first])).toEqual(['0001-a']);
    expect(await migrate(database, [first])).toEqual([]);
    await expect(migrate(database, [])).rejects.toMatchObject({ code: 'SCHEMA_NEWER' });
    await expect(
      migrate(database, [
        {
          ...first,
          up: async (db) => {
            await db.schema.createTable('thing').addColumn('ix', 'text').execute();
          },
        },
      ]),
    ).rejects.toMatchObject({ code: 'MIGRATION_CHANGED' });
    await database.close();
  });
});
