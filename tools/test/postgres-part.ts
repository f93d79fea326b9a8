import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { POSTGRES_ONLY_VARIABLE, POSTGRES_URL_VARIABLE } from '@svc/testing';
import type { TestKind } from './kinds.ts';
import type { Part, PartContext, PartOutcome } from './part.ts';
import { findPostgresPrograms, startPostgres } from './postgres-server.ts';
import { filesOf, runVitest } from './vitest-part.ts';

const USES_POSTGRES = new RegExp(`\\bdescribeDialects\\b|\\bpostgresSource\\b|${POSTGRES_URL_VARIABLE}|'postgres'`);

/** Reruns the repository suites on a PostgreSQL server started for them. */
export function postgresPart(unit: TestKind, root: string): Part {
  const files = (): string[] => {
    return filesOf(unit, root).filter((file) => USES_POSTGRES.test(readFileSync(join(root, file), 'utf8')));
  };
  return {
    name: 'postgres',
    description: 'the repository suites on PostgreSQL',
    group: 'all',
    timeoutMs: unit.timeoutMs,
    files,
    packages: () => [{ provides: '/usr/lib/postgresql', package: 'postgresql', neededFor: 'tests' }],
    impossible: () => {
      if (findPostgresPrograms() !== null) return null;
      return 'needs PostgreSQL; install it with: apt-get install -y postgresql';
    },
    run: (context) => runOnPostgres(context, unit, files()),
  };
}

async function runOnPostgres(context: PartContext, unit: TestKind, files: readonly string[]): Promise<PartOutcome> {
  const programs = findPostgresPrograms();
  if (programs === null) throw new Error('PostgreSQL vanished between the check and the start');
  const logFile = join(context.outFolder, 'postgres-server.log');
  const { environment, isRoot, signal } = context;
  context.progress('starting PostgreSQL');
  const server = await startPostgres(programs, { environment, isRoot, logFile, signal });
  try {
    return await runVitest(context, {
      name: 'postgres',
      kind: unit,
      files,
      environment: { [POSTGRES_URL_VARIABLE]: server.url, [POSTGRES_ONLY_VARIABLE]: 'true' },
    });
  } finally {
    await server.stop();
  }
}
