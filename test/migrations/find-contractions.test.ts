import type { Dialect, Migration } from '@svc/sql';
import { describeDialects } from '@svc/testing';
import { sql, type Kysely } from 'kysely';
import { expect, it } from 'vitest';
import { findContractions } from './find-contractions.ts';
import { readSchema } from './read-schema.ts';

/** What an earlier version uses. */
const earlier: Migration = {
  name: '0001-earlier',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('owner')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .execute();
    await kysely.schema
      .createTable('note')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('owner_id', 'text')
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull().defaultTo('open'))
      .addColumn('size', 'integer')
      .execute();
    await kysely.schema.createIndex('note_title').on('note').columns(['owner_id', 'title']).unique().execute();
    await kysely.schema.createIndex('note_state').on('note').column('state').execute();
  },
};

type Change = (kysely: Kysely<unknown>, dialect: Dialect) => Promise<unknown>;

const run =
  (...statements: readonly string[]): Change =>
  async (kysely) => {
    for (const statement of statements) await sql.raw(statement).execute(kysely);
  };

const EXPANDING: Readonly<Record<string, Change>> = {
  'a new table with keys and checks of its own': run(
    `create table tag (id text primary key, note_id text not null references note (id) on delete cascade,
     name text not null unique check (name <> ''))`,
  ),
  'a new table whose rows outlive what they refer to': run(
    'create table tag (id text primary key, note_id text references note (id) on delete set null)',
  ),
  'a nullable column': run('alter table note add column color text'),
  'a required column with a default': run("alter table note add column color text not null default 'red'"),
  'a nullable column with a reference': run('alter table note add column parent text references owner (id)'),
  'a nullable column with a check': run("alter table note add column color text check (color <> '')"),
  'a unique index with a new nullable column': run(
    'alter table note add column slug text',
    'create unique index note_slug on note (owner_id, slug)',
  ),
  'another index': run('create index note_size on note (size)'),
  'fewer indexes': run('drop index note_state'),
  'other rows': run("update note set state = 'open' where state is null"),
};

/** On SQLite, what ALTER TABLE cannot do needs a new table, and a test of its own. */
const CONTRACTING: Readonly<Record<string, { change: Change; found: string; only?: Dialect }>> = {
  'a dropped table': { change: run('drop table note'), found: 'drops or renames note' },
  'a renamed table': { change: run('alter table note rename to remark'), found: 'drops or renames note' },
  'a dropped column': { change: run('alter table note drop column size'), found: 'drops or renames note.size' },
  'a renamed column': {
    change: run('alter table note rename column size to size_bytes'),
    found: 'drops or renames note.size',
  },
  'a required column without a default': {
    change: run('alter table note add column color text not null'),
    found: 'adds note.color, which is required and has no default',
    only: 'postgres', // SQLite never accepts it
  },
  'another type': {
    change: run('alter table note alter column size type bigint'),
    found: 'changes the type of note.size from integer to bigint',
    only: 'postgres',
  },
  'a column that becomes required': {
    change: run('alter table note alter column size set not null'),
    found: 'requires note.size',
    only: 'postgres',
  },
  'a column that may become null': {
    change: run('alter table note alter column title drop not null'),
    found: 'lets note.title be null',
    only: 'postgres',
  },
  'a default that goes': {
    change: run('alter table note alter column state drop default'),
    found: 'changes the default of note.state',
    only: 'postgres',
  },
  'another unique index': {
    change: run('create unique index note_size on note (size)'),
    found: 'makes note (size) unique',
  },
  'a unique index on an expression': {
    change: run('create unique index note_lower on note (lower(title))'),
    found: 'makes note ((expression)) unique',
  },
  'a unique index on a new column with a default': {
    change: run("alter table note add column slug text default ''", 'create unique index note_slug on note (slug)'),
    found: 'makes note (slug) unique',
  },
  'a dropped unique index': {
    change: run('drop index note_title'),
    found: 'drops the unique note (owner_id, title), which an upsert may name',
  },
  'a reference from an existing column': {
    change: run('alter table note add foreign key (owner_id) references owner (id) on delete cascade'),
    found: 'binds note (owner_id) to owner',
    only: 'postgres',
  },
  'a check of an existing column': {
    change: run('alter table note add check (size > 0)'),
    found: 'checks note: CHECK ((size > 0))',
    only: 'postgres',
  },
  'a check of a new column with a default': {
    change: run("alter table note add column color text default '' check (color <> 'blue')"),
    found: 'checks note: ',
  },
  'a new table that holds rows of an existing one': {
    change: run('create table tag (id text primary key, note_id text references note (id))'),
    found: 'keeps rows of note from being deleted by the new table tag',
  },
  'a table that is made again with another type': {
    change: run('drop table owner', 'create table owner (id integer primary key)'),
    found: 'changes the type of owner.id from text to integer',
  },
};

describeDialects<unknown>('findContractions', [earlier], (database, dialect) => {
  const apply = async (change: Change): Promise<string[]> => {
    const before = await readSchema(database());
    await change(database().kysely, dialect);
    return findContractions(before, await readSchema(database()));
  };

  it.each(Object.entries(EXPANDING))('accepts %s', async (_name, change) => {
    expect(await apply(change)).toEqual([]);
  });

  const here = Object.entries(CONTRACTING).filter(([, { only = dialect }]) => only === dialect);
  it.each(here)('finds %s', async (_name, { change, found }) => {
    expect(await apply(change)).toEqual(expect.arrayContaining([expect.stringContaining(found)]));
  });

  it('finds a trigger', async () => {
    const trigger =
      dialect === 'sqlite'
        ? run("create trigger note_guard before insert on note begin select raise(abort, 'no'); end")
        : run(
            'create function refuse() returns trigger language plpgsql as $$ begin return null; end $$',
            'create trigger note_guard before insert on note for each row execute function refuse()',
          );
    expect(await apply(trigger)).toEqual(['adds the trigger note_guard to note']);
  });
});
