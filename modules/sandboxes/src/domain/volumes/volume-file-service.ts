import { assertDiskRoom } from '../disk-room.ts';
import { SandboxFiles, type FilePlaces } from '../files/file-service.ts';
import type { DiskSpace } from '@svc/runtime';
import type { Volume } from './volume.ts';
import type { VolumeServers } from './volume-servers.ts';
import type { VolumeService } from './volume-service.ts';

export interface VolumeFileServiceDeps {
  readonly volumes: Pick<VolumeService, 'usable'>;
  readonly servers: VolumeServers;
  readonly disk: DiskSpace;
}

/** Opens the files of a volume, by its name. The caller authorizes access to the workspace. */
export class VolumeFileService implements FilePlaces {
  readonly #deps: VolumeFileServiceDeps;

  constructor(deps: VolumeFileServiceDeps) {
    this.#deps = deps;
  }

  /** Throws VOLUME_NOT_FOUND, VOLUME_ELSEWHERE, VOLUMES_UNAVAILABLE and VOLUMES_BUSY. */
  async of(workspaceUuid: string, name: string): Promise<SandboxFiles> {
    return this.ofVolume(await this.#deps.volumes.usable(workspaceUuid, name));
  }

  async forWriting(workspaceUuid: string, name: string): Promise<SandboxFiles> {
    const files = await this.of(workspaceUuid, name);
    await this.assertRoom();
    return files;
  }

  assertRoom(): Promise<void> {
    return assertDiskRoom(this.#deps.disk, 0);
  }

  /** The files of a volume on this node. */
  async ofVolume(volume: Volume): Promise<SandboxFiles> {
    const { connection, begin } = await this.#deps.servers.open(volume);
    const takeRoom = (sizeBytes: number) => assertDiskRoom(this.#deps.disk, sizeBytes);
    const place = { home: '/', diskMb: volume.sizeMb, takeRoom };
    return new SandboxFiles(connection, place, begin);
  }
}
