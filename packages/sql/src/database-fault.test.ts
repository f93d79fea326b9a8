import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { parseDatabaseFault, violatesForeignKey, violatesUnique, type UniqueKey } from './database-fault.ts';
import type { Migration } from './migration.ts';

interface Tables {
  folder: { id: string; owner: string; name: string; label: string };
  file: { id: string; folder_id: string };
}

const NAME: UniqueKey = { constraint: 'folder_owner_name', table: 'folder', columns: ['owner', 'name'] };
const LABEL: UniqueKey = { constraint: 'folder_label', table: 'folder', columns: ['label'] };
const ID: UniqueKey = { constraint: 'folder_id', table: 'folder', columns: ['id'] };

const migration: Migration = {
  name: '0001-folders',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('folder')
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('label', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint(ID.constraint, ['id'])
      .addUniqueConstraint(NAME.constraint, ['owner', 'name'])
      .execute();
    await kysely.schema.createIndex(LABEL.constraint).on('folder').column('label').unique().execute();
    await kysely.schema
      .createTable('file')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('folder_id', 'text', (column) => column.notNull().references('folder.id'))
      .execute();
  },
};

describeDialects<Tables>('faults of a database', [migration], (database) => {
  const row = { id: '1', owner: 'ada', name: 'letters', label: 'a' };
  const insert = (values: Tables['folder']) => database().kysely.insertInto('folder').values(values).execute();
  const refusal = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => null,
      (error: unknown) => error,
    );

  it.each([
    ['a name', { id: '2', label: 'b' }, NAME],
    ['a column with an index', { id: '2', name: 'other' }, LABEL],
    ['a primary key', { label: 'b', name: 'other' }, ID],
  ])('distinguishes the violated key from every other one: %s', async (_what, change, violated) => {
    await insert(row);
    const error = await refusal(insert({ ...row, ...change }));
    for (const key of [NAME, LABEL, ID]) expect(violatesUnique(error, key), key.constraint).toBe(key === violated);
    expect(violatesUnique(error, { ...violated, table: 'file' })).toBe(false);
  });

  it('recognizes a reference to a missing row', async () => {
    const error = await refusal(database().kysely.insertInto('file').values({ id: '1', folder_id: 'none' }).execute());
    expect(violatesForeignKey(error)).toBe(true);
    expect(violatesUnique(error, NAME)).toBe(false);
  });

  it.each([
    ['inserted', () => insert({ ...row, name: 'let\0ters' })],
    ['looked for', () => database().kysely.selectFrom('folder').where('name', '=', '\0').selectAll().execute()],
  ])('rejects text with NUL that is %s, as the caller’s error', async (_what, work) => {
    expect(await refusal(work())).toMatchObject({ code: 'INVALID_TEXT', status: 400 });
    await insert(row);
  });

  it('leaves every other error alone', async () => {
    const error = await refusal(insert({ ...row, name: null as unknown as string })); // forbidden by the types
    expect(error).toBeInstanceOf(Error);
    expect(parseDatabaseFault(error)).toBeNull();
    expect(parseDatabaseFault(new Error('UNIQUE constraint failed: folder.owner, folder.name'))).toBeNull();
    expect(parseDatabaseFault(null)).toBeNull();
  });
});
