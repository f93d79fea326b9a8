import type { FairSlots } from '@svc/runtime';
import type { Kysely } from 'kysely';
import type { SandboxesConfig } from '../config.ts';
import type { SandboxContext } from '../domain/context.ts';
import { assertVolumesAvailable } from '../domain/volumes/volume.ts';
import { VolumeFileService } from '../domain/volumes/volume-file-service.ts';
import { VolumeServers } from '../domain/volumes/volume-servers.ts';
import { VolumeService } from '../domain/volumes/volume-service.ts';
import type { SandboxTables } from '../store/tables.ts';
import { createVolumeRepository } from '../store/volume-repository.ts';

/** Volumes, their files, and the helpers that serve those. */
export function createVolumePart(
  context: SandboxContext,
  kysely: Kysely<SandboxTables>,
  copies: FairSlots,
  { size_mb: defaultSizeMb, max_size_mb: maximumSizeMb }: SandboxesConfig['volumes'],
) {
  const { driver, clock, log, disk, quotaLimits } = context;
  const volumeRepository = createVolumeRepository(kysely);
  const volumeServers = new VolumeServers({
    driver: () => assertVolumesAvailable(driver),
    repository: volumeRepository,
    quotaLimits,
    clock,
    log,
  });
  const parts = { context, repository: volumeRepository, servers: volumeServers, copies };
  const volumes = new VolumeService({ ...parts, defaultSizeMb, maximumSizeMb });
  const volumeFiles = new VolumeFileService({ volumes, servers: volumeServers, disk });
  return { volumes, volumeRepository, volumeServers, volumeFiles };
}
