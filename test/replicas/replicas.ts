import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { openDatabase } from '@svc/sql';
import { POSTGRES_URL_VARIABLE, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { sql } from 'kysely';
import { runSvc, startPlatform, type RunningPlatform } from '../system/running-platform.ts';

export interface ReplicaOptions {
  /** Name of the data folder. Each platform has its own. */
  readonly name: string;
  readonly environment?: Readonly<Record<string, string>>;
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

/** Creates an empty database on the server of this run, for platforms with these services. */
export async function createReplicas(services: string): Promise<Replicas> {
  const server = process.env[POSTGRES_URL_VARIABLE] ?? '';
  const name = `svc_replicas_${randomBytes(6).toString('hex')}`;
  await administer(server, `create database ${name}`);
  const folder: TemporaryFolder = await temporaryFolder('svc-replicas-');
  const url = new URL(server);
  url.pathname = `/${name}`;
  const masterKey = randomBytes(32).toString('hex');
  const shared = {
    SVC_DATABASE_URL: url.href,
    SVC_MASTER_KEY: masterKey,
    SVC_SERVICES: services,
    SVC_SHUTDOWN_LAME_DUCK_SECONDS: '0', // no proxy waits
  };
  const running = new Set<RunningPlatform>();
  const dataFolder = (each: string): string => join(folder.path, each);
  return {
    folder: folder.path,
    databaseUrl: url.href,
    masterKey,
    dataFolder,
    start: async ({ name: each, environment }) => {
      const platform = await startPlatform({
        dataFolder: dataFolder(each),
        environment: { ...shared, ...environment },
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
      await administer(server, `drop database if exists ${name} with (force)`);
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
