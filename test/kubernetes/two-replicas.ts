import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findPostgresPrograms, startPostgres, temporaryFolder } from '@svc/testing';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';

/** Two platforms on one PostgreSQL server of their own, as `test/replicas` has them. */
export interface TwoReplicas extends AsyncDisposable {
  readonly folder: string;
  /** In the order of `start`. */
  readonly platforms: readonly [RunningPlatform, RunningPlatform];
}

export async function startTwoReplicas(config: Readonly<Record<string, unknown>>): Promise<TwoReplicas> {
  const programs = findPostgresPrograms();
  if (programs === null) throw new Error('needs PostgreSQL; install it with: apt-get install -y postgresql');
  const folder = await temporaryFolder('svc-two-replicas-');
  const file = join(folder.path, 'config.json');
  await writeFile(file, JSON.stringify(config));
  const database = await startPostgres(programs, {
    environment: { PATH: process.env['PATH'] ?? '' },
    isRoot: process.getuid?.() === 0,
    signal: new AbortController().signal,
    logFile: join(folder.path, 'postgres.log'),
  });
  const environment = {
    SVC_DATABASE_URL: database.url,
    SVC_MASTER_KEY: randomBytes(32).toString('hex'),
    SVC_SHUTDOWN_LAME_DUCK_SECONDS: '0', // no proxy waits
  };
  const start = (name: string): Promise<RunningPlatform> =>
    startPlatform({ dataFolder: join(folder.path, name), flags: ['--config', file], environment });
  try {
    const platforms = [await start('first'), await start('second')] as const;
    return {
      folder: folder.path,
      platforms,
      [Symbol.asyncDispose]: async () => {
        for (const platform of platforms) await platform.stop();
        await database.stop();
        await folder.remove();
      },
    };
  } catch (error) {
    await database.stop();
    throw error;
  }
}
