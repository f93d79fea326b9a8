import { systemRandom, unlimitedDisk, type Clock } from '@svc/runtime';
import type { Database } from '@svc/sql';
import { SnapshotArchives } from '../domain/archives/snapshot-archives.ts';
import type { SandboxDriver } from '../domain/driver.ts';
import { createArchiveRepository } from '../store/archive-repository.ts';
import type { SandboxTables } from '../store/tables.ts';
import { createTemplateRepository } from '../store/template-repository.ts';
import type { SandboxesDependencies } from './dependencies.ts';

/** Null if there is no storage for copies of snapshots and images. */
export function createArchives(
  dependencies: SandboxesDependencies,
  database: Database<SandboxTables>,
  driver: SandboxDriver,
  clock: Clock,
): SnapshotArchives | null {
  const { archives: blobs = null, keyWrapper: sealer, quotaLimits, node, nodes, log } = dependencies;
  const { disk = unlimitedDisk } = dependencies;
  if (blobs === null) return null;
  const repository = createArchiveRepository(database);
  const random = systemRandom;
  const layers = createTemplateRepository(database.kysely);
  const given = { blobs, repository, layers, driver, sealer, quotaLimits, node, nodes, disk, clock, random, log };
  return new SnapshotArchives(given);
}
