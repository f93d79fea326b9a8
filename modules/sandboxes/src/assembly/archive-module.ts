import { systemRandom, unlimitedDisk, type Clock } from '@svc/runtime';
import type { Database } from '@svc/sql';
import { SnapshotArchives } from '../domain/archives/snapshot-archives.ts';
import type { SandboxDriver } from '../domain/driver.ts';
import { createArchiveRepository } from '../store/archive-repository.ts';
import type { SandboxTables } from '../store/tables.ts';
import { createStreamedSnapshotRepository } from '../store/streamed-snapshots.ts';
import { createTemplateRepository } from '../store/template-repository.ts';
import type { SandboxesDependencies } from './dependencies.ts';

/** Null if there is no storage for snapshots and images. */
export function createArchives(
  dependencies: SandboxesDependencies,
  database: Database<SandboxTables>,
  driver: SandboxDriver,
  clock: Clock,
): SnapshotArchives | null {
  const { archives: blobs = null, keyWrapper: sealer, quotaLimits, node, nodes, log } = dependencies;
  const {
    disk = unlimitedDisk,
    archivesAreShared: isShared = true,
    archivesAreOnDisk: isOnDisk = false,
  } = dependencies;
  if (blobs === null) return null;
  const repository = createArchiveRepository(database);
  const random = systemRandom;
  const layers = createTemplateRepository(database.kysely);
  const streamedRepository = createStreamedSnapshotRepository(database, clock);
  const repositories = { repository, streamedRepository, layers };
  const given = {
    blobs,
    isShared,
    isOnDisk,
    ...repositories,
    driver,
    sealer,
    quotaLimits,
    node,
    nodes,
    disk,
    clock,
    random,
    log,
  };
  return new SnapshotArchives(given);
}
