import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findPostgresPrograms, startPostgres } from '@svc/testing';

/** Starts a PostgreSQL server whose commits are on disk when they return. */
export async function startDurablePostgres(folder: string): ReturnType<typeof startPostgres> {
  const programs = findPostgresPrograms();
  if (programs === null) throw new Error('needs PostgreSQL; install it with: apt-get install -y postgresql');
  await mkdir(folder, { recursive: true });
  return await startPostgres(programs, {
    environment: { PATH: process.env['PATH'] ?? '' },
    isRoot: process.getuid?.() === 0,
    logFile: join(folder, 'postgres.log'),
    signal: new AbortController().signal,
    durable: true,
  });
}
