import { sandboxErrors } from '../../../errors.ts';
import { assertSandboxId, type SnapshotDriver } from '../../../domain/driver.ts';
import { asFields, isConflict, isMissing, type EngineClient } from './engine-client.ts';
import { engineFailure } from './engine-failure.ts';
import { findImage } from './find-image.ts';
import { filterByOwner, OWNER_LABEL, SNAPSHOT_LABEL, type Owners } from './names.ts';

/** Engines need time to copy many gigabytes. */
const TAKE_LIMIT_MS = 30 * 60_000;
const REQUEST_LIMIT_MS = 60_000;

export interface DockerSnapshotsOptions {
  readonly owners: Owners;
  /** The current engine client. Throws SANDBOXES_UNAVAILABLE. */
  readonly client: () => EngineClient;
  /** The name of a sandbox's container. */
  readonly containerName: (id: string) => string;
}

/**
 * Snapshots as images: the engine commits a container's changes as one more layer. The image of a removed snapshot must
 * stay while a container or another image is based on it. Until then it is tagged as removed, and `sweep` deletes it
 * once it is unused.
 */
export class DockerSnapshots implements SnapshotDriver {
  readonly #options: DockerSnapshotsOptions;

  constructor(options: DockerSnapshotsOptions) {
    this.#options = options;
  }

  async take(id: string, snapshotId: string): Promise<{ sizeBytes: number }> {
    assertSandboxId(id);
    assertSandboxId(snapshotId);
    const { owners, containerName } = this.#options;
    const client = this.#options.client();
    const signal = AbortSignal.timeout(TAKE_LIMIT_MS);
    const container = containerName(id);
    try {
      const { Image: base } = asFields(await client.json('GET', `/containers/${container}/json`, { signal }));
      const query = { container, repo: repositoryOf(owners.current), tag: snapshotId, pause: true };
      const body = { Labels: { [OWNER_LABEL]: owners.current, [SNAPSHOT_LABEL]: snapshotId } };
      const { Id: image } = asFields(await client.json('POST', '/commit', { query, body, signal }));
      const [whole, below] = await Promise.all([image, base].map((each) => readSize(client, String(each), signal)));
      return { sizeBytes: Math.max(0, (whole ?? 0) - (below ?? 0)) };
    } catch (error) {
      if (isMissing(error)) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
      throw engineFailure(error, 'ROOTFS_FAILED');
    }
  }

  /** The engine's disk is not managed by the platform. */
  sizeBytes(): Promise<number> {
    return Promise.resolve(0);
  }

  /** Returns the id of the snapshot's image. */
  async provide(snapshotId: string, signal: AbortSignal): Promise<string> {
    assertSandboxId(snapshotId);
    const found = await this.#find(this.#options.client(), snapshotId, signal);
    if (found === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its snapshot is gone' } });
    return found.id;
  }

  async remove(snapshotId: string): Promise<void> {
    assertSandboxId(snapshotId);
    const client = this.#options.client();
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    try {
      const found = await this.#find(client, snapshotId, signal);
      if (found === null) return;
      const { name } = found;
      const query = { repo: this.#removedRepository(), tag: snapshotId };
      await client.json('POST', `/images/${name}/tag`, { query, signal });
      // Removes only this name: the image has another one now.
      await client.json('DELETE', `/images/${name}`, { signal });
      await this.sweep({ halfMade: false });
    } catch (error) {
      if (!isMissing(error)) throw engineFailure(error, 'RUNTIME_FAILED');
    }
  }

  /** Without those of the former owner, which another platform may have made. */
  async list(): Promise<readonly string[]> {
    const { current } = this.#options.owners;
    const prefix = `${repositoryOf(current)}:`;
    const names = (await this.#images(current)).flatMap(({ names }) => names);
    return names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  }

  /**
   * Deletes unused images of removed snapshots. Untagged images are incomplete or still being created; `halfMade`
   * deletes them too, for when no snapshot can be in progress.
   */
  async sweep({ halfMade }: { readonly halfMade: boolean }): Promise<void> {
    const client = this.#options.client();
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    const prefix = `${this.#removedRepository()}:`;
    const { current, former } = this.#options.owners;
    // A deleted image may have been the last one based on another.
    for (let removed = true; removed;) {
      removed = false;
      for (const owner of [current, former]) {
        for (const { id, names } of await this.#images(owner)) {
          const isUntagged = names.length === 0;
          const isUnwanted = isUntagged
            ? halfMade && owner === current
            : names.every((name) => name.startsWith(prefix));
          if (isUnwanted) removed = (await removeUnused(client, names[0] ?? id, signal)) || removed;
        }
      }
    }
  }

  /** The image of a snapshot, under the name that its owner at the time gave it. */
  async #find(
    client: EngineClient,
    snapshotId: string,
    signal: AbortSignal,
  ): Promise<{ readonly id: string; readonly name: string } | null> {
    const { current, former } = this.#options.owners;
    for (const owner of [current, former]) {
      const name = `${repositoryOf(owner)}:${snapshotId}`;
      const id = await findImage(client, name, signal);
      if (id !== null) return { id, name };
    }
    return null;
  }

  async #images(owner: string): Promise<readonly { readonly id: string; readonly names: readonly string[] }[]> {
    const filters = { label: [...filterByOwner(owner).label, SNAPSHOT_LABEL] };
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    const found = await this.#options.client().json('GET', '/images/json', { query: { filters }, signal });
    return (Array.isArray(found) ? found : []).map(asFields).map(({ Id: id, RepoTags: tags }) => ({
      id: String(id),
      // Engines use this name for untagged images.
      names: (Array.isArray(tags) ? tags : []).map(String).filter((name) => name !== '<none>:<none>'),
    }));
  }

  #removedRepository(): string {
    return `svc-sandbox-removed-${this.#options.owners.current}`;
  }
}

function repositoryOf(owner: string): string {
  return `svc-sandbox-snapshot-${owner}`;
}

/** Returns false if the image is still in use. */
async function removeUnused(client: EngineClient, image: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.json('DELETE', `/images/${image}`, { signal });
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    if (isMissing(error)) return true; // removed by someone else meanwhile
    throw error;
  }
}

async function readSize(client: EngineClient, image: string, signal: AbortSignal): Promise<number> {
  const { Size: size } = asFields(await client.json('GET', `/images/${image}/json`, { signal }));
  return typeof size === 'number' ? size : 0;
}
