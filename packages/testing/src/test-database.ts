import { randomBytes } from 'node:crypto';
import { copyFile } from 'node:fs/promises';
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

/** SQLite files in a temporary folder. */
export async function sqliteSource(migrations: readonly Migration[]): Promise<DatabaseSource> {
  const folder = await temporaryFolder('svc-sqlite-');
  const template = join(folder.path, 'template.sqlite');
  const first = openDatabase<unknown>({ file: template });
  try {
    await migrate(first, migrations);
  } finally {
    await first.close(); // checkpoints, so that the file alone is the whole database
  }
  let count = 0;
  return {
    dialect: 'sqlite',
    open: async <Tables>() => {
      const file = join(folder.path, `${count++}.sqlite`);
      await copyFile(template, file);
      return openDatabase<Tables>({ file });
    },
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
