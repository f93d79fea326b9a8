import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPostgresPrograms, POSTGRES_ONLY_VARIABLE, POSTGRES_URL_VARIABLE, startPostgres } from '@svc/testing';
import type { TestKind } from './kinds.ts';
import type { Part, PartContext, PartOutcome } from './part.ts';
import { filesOf, runVitest, vitestPart } from './vitest-part.ts';
import { packagesNeededBy } from './needed-packages.ts';
import type { SystemPackage } from '@svc/system-packages';

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
    packages: () => [POSTGRES],
    impossible: whyNoPostgres,
    run: (context) =>
      withPostgres(context, 'postgres', (url) =>
        runVitest(context, {
          name: 'postgres',
          kind: unit,
          files: files(),
          environment: { [POSTGRES_URL_VARIABLE]: url, [POSTGRES_ONLY_VARIABLE]: 'true' },
        }),
      ),
  };
}

/** Runs several platforms on a PostgreSQL server started for them. */
export function replicasPart(kind: TestKind, root: string): Part {
  return vitestPart(kind, root, {
    packages: () => [POSTGRES, ...packagesNeededBy(filesOf(kind, root), root)],
    impossible: whyNoPostgres,
    run: (context) =>
      withPostgres(context, kind.name, (url) =>
        runVitest(context, { name: kind.name, kind, environment: { [POSTGRES_URL_VARIABLE]: url } }),
      ),
  });
}

const POSTGRES: SystemPackage = { provides: '/usr/lib/postgresql', package: 'postgresql', neededFor: 'tests' };

function whyNoPostgres(): string | null {
  if (findPostgresPrograms() !== null) return null;
  return 'needs PostgreSQL; install it with: apt-get install -y postgresql';
}

async function withPostgres(
  context: PartContext,
  name: string,
  run: (url: string) => Promise<PartOutcome>,
): Promise<PartOutcome> {
  const programs = findPostgresPrograms();
  if (programs === null) throw new Error('PostgreSQL vanished between the check and the start');
  const logFile = join(context.outFolder, `${name}-server.log`);
  const { environment, isRoot, signal } = context;
  context.progress('starting PostgreSQL');
  const server = await startPostgres(programs, { environment, isRoot, logFile, signal });
  try {
    return await run(server.url);
  } finally {
    await server.stop();
  }
}
