import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type DatabaseSource, postgresSource, POSTGRES_URL_VARIABLE, temporaryFolder } from '@svc/testing';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';

/** Two processes of the platform with data folders of their own on one PostgreSQL database. */
export interface TwoReplicas extends AsyncDisposable {
  readonly database: Awaited<ReturnType<typeof openTables>>;
  /** Starts the replica, or starts it again on its data. */
  start(name: ReplicaName): Promise<RunningPlatform>;
}

export type ReplicaName = 'first' | 'second';

/** What the tests read. */
export interface ReplicaTables {
  cluster: { id: string; connection_epoch: number; replica_id: string | null };
  cluster_tunnel: { cluster_id: string; epoch: number; replica_id: string | null };
}

function openTables(source: DatabaseSource) {
  return source.open<ReplicaTables>();
}

export async function prepareReplicas(environment: Readonly<Record<string, string>>): Promise<TwoReplicas> {
  const server = process.env[POSTGRES_URL_VARIABLE] ?? '';
  const source = await postgresSource(server, []);
  const database = await openTables(source);
  const url = new URL(server);
  url.pathname = new URL(database.location ?? '').pathname;
  const folder = await temporaryFolder('svc-replicas-');
  const shared = {
    SVC_DATABASE_URL: url.href,
    SVC_MASTER_KEY: randomBytes(32).toString('base64'),
    ...environment,
  };
  const started: RunningPlatform[] = [];
  return {
    database,
    start: async (name) => {
      const platform = await startPlatform({ dataFolder: join(folder.path, name), environment: shared });
      started.push(platform);
      return platform;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(started.map((platform) => platform.kill()));
      await database.close();
      await source.close();
      await folder.remove();
    },
  };
}
