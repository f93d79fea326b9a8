import { randomBytes } from 'node:crypto';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '@svc/sql';
import { POSTGRES_URL_VARIABLE, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { sql } from 'kysely';
import { runSvc, startPlatform, type RunningPlatform } from '../system/running-platform.ts';

export interface ReplicaOptions {
  /** Name of the data folder. Each platform has its own. */
  readonly name: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Folder of another version; defaults to this checkout. */
  readonly root?: string;
  readonly flags?: readonly string[];
}

/** A database and a folder for the data folders of the platforms that share it. */
export interface Replicas extends AsyncDisposable {
  readonly folder: string;
  readonly databaseUrl: string;
  /** The master key that the platforms share, unless a test sets another. */
  readonly masterKey: string;
  dataFolder(name: string): string;
  start(options: ReplicaOptions): Promise<RunningPlatform>;
  /** For a start that must be refused. */
  refusedStart(options: ReplicaOptions): Promise<{ exitCode: number | null; stderr: string }>;
}

/** An empty database, removed at the end. */
interface TestDatabase extends AsyncDisposable {
  readonly url: string;
}

/** Creates an empty database on the server of this run. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = process.env[POSTGRES_URL_VARIABLE] ?? '';
  const name = `svc_replicas_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const drop = (): Promise<void> => administer(server, `drop database if exists ${name} with (force)`);
  return { url: url.href, [Symbol.asyncDispose]: drop };
}

/** Creates an empty database on the server of this run, for platforms with these services. */
export async function createReplicas(services: string): Promise<Replicas> {
  const database = await createDatabase();
  const folder: TemporaryFolder = await temporaryFolder('svc-replicas-');
  const masterKey = randomBytes(32).toString('hex');
  const shared = {
    SVC_DATABASE_URL: database.url,
    SVC_MASTER_KEY: masterKey,
    SVC_SERVICES: services,
    SVC_SHUTDOWN_LAME_DUCK_SECONDS: '0', // no proxy waits
  };
  const running = new Set<RunningPlatform>();
  const dataFolder = (each: string): string => join(folder.path, each);
  return {
    folder: folder.path,
    databaseUrl: database.url,
    masterKey,
    dataFolder,
    start: async ({ name: each, environment, ...options }) => {
      const platform = await startPlatform({
        dataFolder: dataFolder(each),
        environment: { ...shared, ...environment },
        ...options,
      });
      running.add(platform);
      return platform;
    },
    refusedStart: ({ name: each, environment }) =>
      runSvc(['up', '--json', '--data', dataFolder(each), '--port', '0', '--https-port', '0', '--s3-port', '0'], {
        ...shared,
        ...environment,
      }),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...running].map((platform) => platform.stop()));
      await database[Symbol.asyncDispose]();
      await folder.remove();
    },
  };
}

async function administer(url: string, statement: string): Promise<void> {
  const database = openDatabase<unknown>({ url, maxConnections: 1 });
  try {
    await sql.raw(statement).execute(database.kysely);
  } finally {
    await database.close();
  }
}

/**
 * Environment of a replica whose time of day is ahead, by Debian's `faketime`. Its timers run as usual, like those of a
 * machine whose clock is wrong.
 */
export function clockAhead(seconds: number): Record<string, string> {
  const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');
  if (library === undefined) throw new Error('needs faketime; install it with: apt-get install -y faketime');
  return { LD_PRELOAD: library, FAKETIME: `+${seconds}s`, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}
