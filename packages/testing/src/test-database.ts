import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate, openDatabase, type Database, type Dialect, type Migration } from '@svc/sql';
import pg from 'pg';
import { temporaryFolder } from './temporary-folder.ts';

/** Creates independent migrated databases as copies of one that was migrated once. */
export interface DatabaseSource extends AsyncDisposable {
  readonly dialect: Dialect;
  /** `close` of the result also removes the database. */
  open<Tables>(): Promise<Database<Tables>>;
  close(): Promise<void>;
}

/** Contents of new SQLite files by what was done to them, so that a process does it once. */
const contents = new WeakMap<object, Promise<Buffer>>();

/**
 * Writes the file that `make` makes, unless there is one. `make` runs once in a process for each `key`, and must leave
 * everything in the file itself.
 */
export async function writeSqliteFile(file: string, key: object, make: (file: string) => Promise<void>): Promise<void> {
  if (existsSync(file)) return;
  let content = contents.get(key);
  if (content === undefined) {
    content = contentOf(make);
    contents.set(key, content);
  }
  await writeFile(file, await content);
}

async function contentOf(make: (file: string) => Promise<void>): Promise<Buffer> {
  await using folder = await temporaryFolder('svc-sqlite-');
  const file = join(folder.path, 'first.sqlite');
  await make(file);
  return readFile(file);
}

/** Opens a SQLite file, which is created and migrated if it is missing. */
export async function openMigratedFile<Tables>(
  file: string,
  migrations: readonly Migration[],
): Promise<Database<Tables>> {
  await writeSqliteFile(file, migrations, async (first) => {
    const database = openDatabase<unknown>({ file: first });
    try {
      await migrate(database, migrations);
    } finally {
      await database.close(); // checkpoints, so that the file alone is the whole database
    }
  });
  return openDatabase<Tables>({ file });
}

/** SQLite files in a temporary folder. */
export async function sqliteSource(migrations: readonly Migration[]): Promise<DatabaseSource> {
  const folder = await temporaryFolder('svc-sqlite-');
  let count = 0;
  return {
    dialect: 'sqlite',
    open: <Tables>() => openMigratedFile<Tables>(join(folder.path, `${count++}.sqlite`), migrations),
    close: () => folder.remove(),
    [Symbol.asyncDispose]: () => folder.remove(),
  };
}

/** Databases on the server at `url`; its user must be allowed to create databases. */
export async function postgresSource(url: string, migrations: readonly Migration[]): Promise<DatabaseSource> {
  const prefix = `svc_test_${randomBytes(6).toString('hex')}`;
  const template = `${prefix}_template`;
  await administer(url, `create database ${template}`);
  const first = openDatabase<unknown>({ url: withDatabase(url, template), maxConnections: 1 });
  try {
    await migrate(first, migrations);
  } finally {
    await first.close();
  }
  let count = 0;
  const close = () => administer(url, `drop database if exists ${template} with (force)`);
  return {
    dialect: 'postgres',
    open: async <Tables>() => {
      const name = `${prefix}_${count++}`;
      await administer(url, `create database ${name} template ${template}`);
      const database = openDatabase<Tables>({ url: withDatabase(url, name), maxConnections: 8 });
      const closeAndDrop = async (): Promise<void> => {
        await database.close();
        await administer(url, `drop database if exists ${name} with (force)`);
      };
      return { ...database, close: closeAndDrop };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, name: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${name}`;
  return parsed.href;
}
