import { pageParameters, type PageQuery } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import { VolumeFiles } from './files.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import type { NewVolume, Volume, VolumeSnapshot } from './sandbox-types.ts';

/** Filters for lists of volume snapshots. */
export interface VolumeSnapshotQuery extends PageQuery {
  /** Lists only snapshots of this volume, which may have been deleted. */
  volumeId?: string | undefined;
}

/**
 * The volumes of the workspace: file systems that outlive sandboxes. One sandbox mounts a volume to write, or several read-only.
 *
 * @example
 * ```ts
 * await svc.sandboxes.volumes.create({ name: 'data', size_mb: 2048 });
 * const sandbox = await svc.sandboxes.create({ image: 'debian', volumes: [{ name: 'data', path: '/data' }] });
 * ```
 */
export class VolumesClient {
  readonly #transport: SandboxTransport;

  constructor(transport: SandboxTransport) {
    this.#transport = transport;
  }

  /** Lists volumes, newest first, fetching pages as needed. */
  async *list(page: PageQuery = {}, options: CallOptions = {}): AsyncGenerator<Volume, void> {
    let cursor = page.cursor ?? null;
    do {
      const query = pageParameters({ ...page, cursor: cursor ?? undefined });
      const answer = await this.#transport.call<{ volumes: Volume[]; next_cursor?: string | null }>('GET', '/volumes', {
        query,
        ...options,
      });
      yield* answer.volumes;
      cursor = answer.next_cursor ?? null;
    } while (cursor !== null);
  }

  /** Returns a volume. Throws `NotFoundError` if there is none. */
  get(name: string, options: CallOptions = {}): Promise<Volume> {
    return this.#transport.call('GET', pathOf(name), options);
  }

  /** Creates a volume, empty or from a snapshot. Throws `ConflictError` if the name is taken. */
  create(volume: NewVolume, options: CallOptions = {}): Promise<Volume> {
    return this.#transport.call('POST', '/volumes', { body: volume, ...options });
  }

  /** Returns the files of a volume, without a request. */
  files(name: string): VolumeFiles {
    return new VolumeFiles(this.#transport, name);
  }

  /** Makes a volume larger. Volumes never shrink. */
  resize(name: string, sizeMb: number, options: CallOptions = {}): Promise<Volume> {
    return this.#transport.call('PATCH', pathOf(name), { body: { size_mb: sizeMb }, ...options });
  }

  /** Deletes a volume and its files. Throws `ConflictError` if a sandbox mounts it. Its snapshots stay. */
  async delete(name: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call('DELETE', pathOf(name), options);
  }

  /** Copies a volume. Processes of a sandbox that writes to it freeze meanwhile. */
  snapshot(
    name: string,
    { name: snapshotName, ...options }: CallOptions & { name?: string | undefined } = {},
  ): Promise<VolumeSnapshot> {
    const body = snapshotName === undefined ? {} : { name: snapshotName };
    return this.#transport.call('POST', `${pathOf(name)}/snapshots`, { body, ...options });
  }

  /** Lists snapshots, newest first, fetching pages as needed. */
  async *listSnapshots(
    { volumeId, ...page }: VolumeSnapshotQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<VolumeSnapshot, void> {
    let cursor = page.cursor ?? null;
    do {
      const query = { ...pageParameters({ ...page, cursor: cursor ?? undefined }), volume_id: volumeId };
      const answer = await this.#transport.call<{ snapshots: VolumeSnapshot[]; next_cursor?: string | null }>(
        'GET',
        '/volume-snapshots',
        { query, ...options },
      );
      yield* answer.snapshots;
      cursor = answer.next_cursor ?? null;
    } while (cursor !== null);
  }

  /** Deletes a snapshot. Volumes created from it don't change. */
  async deleteSnapshot(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call('DELETE', `/volume-snapshots/${encodeURIComponent(id)}`, options);
  }
}

function pathOf(name: string): string {
  return `/volumes/${encodeURIComponent(name)}`;
}
