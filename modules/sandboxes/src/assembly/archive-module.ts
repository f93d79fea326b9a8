import { systemRandom, type Clock } from '@svc/runtime';
import type { Database } from '@svc/sql';
import { SnapshotArchives } from '../domain/archives/snapshot-archives.ts';
import type { SandboxDriver } from '../domain/driver.ts';
import { createArchiveRepository } from '../store/archive-repository.ts';
import type { SandboxTables } from '../store/tables.ts';
import type { SandboxesDependencies } from './dependencies.ts';

/** Null if there is no storage for copies of snapshots. */
export function createArchives(
  { archives: blobs = null, keyWrapper: sealer, quotaLimits, node, nodes, log }: SandboxesDependencies,
  database: Database<SandboxTables>,
  driver: SandboxDriver,
  clock: Clock,
): SnapshotArchives | null {
  if (blobs === null) return null;
  const repository = createArchiveRepository(database);
  const random = systemRandom;
  return new SnapshotArchives({ blobs, repository, driver, sealer, quotaLimits, node, nodes, clock, random, log });
}
