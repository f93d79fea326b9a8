import { sandboxErrors } from '../../../errors.ts';
import { assertSandboxId, type SnapshotDriver } from '../../../domain/driver.ts';
import { asFields, isConflict, isMissing, type EngineClient } from './engine-client.ts';
import { engineFailure } from './engine-failure.ts';
import { findImage } from './find-image.ts';
import { engineName, filterByOwner, OWNER_LABEL, SNAPSHOT_LABEL } from './names.ts';

/** Engines need time to copy many gigabytes. */
const TAKE_LIMIT_MS = 30 * 60_000;
const REQUEST_LIMIT_MS = 60_000;

export interface DockerSnapshotsOptions {
  readonly owner: string;
  /** The current engine client. Throws SANDBOXES_UNAVAILABLE. */
  readonly client: () => EngineClient;
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
    const { owner } = this.#options;
    const client = this.#options.client();
    const signal = AbortSignal.timeout(TAKE_LIMIT_MS);
    const container = engineName(owner, id);
    try {
      const { Image: base } = asFields(await client.json('GET', `/containers/${container}/json`, { signal }));
      const query = { container, repo: this.#repository(), tag: snapshotId, pause: true };
      const body = { Labels: { [OWNER_LABEL]: owner, [SNAPSHOT_LABEL]: snapshotId } };
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
    const image = await findImage(this.#options.client(), `${this.#repository()}:${snapshotId}`, signal);
    if (image === null) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its snapshot is gone' } });
    return image;
  }

  async remove(snapshotId: string): Promise<void> {
    assertSandboxId(snapshotId);
    const client = this.#options.client();
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    const name = `${this.#repository()}:${snapshotId}`;
    try {
      if ((await findImage(client, name, signal)) === null) return;
      const query = { repo: this.#removedRepository(), tag: snapshotId };
      await client.json('POST', `/images/${name}/tag`, { query, signal });
      // Removes only this name: the image has another one now.
      await client.json('DELETE', `/images/${name}`, { signal });
      await this.sweep({ halfMade: false });
    } catch (error) {
      if (!isMissing(error)) throw engineFailure(error, 'RUNTIME_FAILED');
    }
  }

  async list(): Promise<readonly string[]> {
    const prefix = `${this.#repository()}:`;
    const names = (await this.#images()).flatMap(({ names }) => names);
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
    // A deleted image may have been the last one based on another.
    for (let removed = true; removed;) {
      removed = false;
      for (const { id, names } of await this.#images()) {
        const unwanted = names.length === 0 ? halfMade : names.every((name) => name.startsWith(prefix));
        if (!unwanted) continue;
        removed = (await removeUnused(client, names[0] ?? id, signal)) || removed;
      }
    }
  }

  async #images(): Promise<readonly { readonly id: string; readonly names: readonly string[] }[]> {
    const filters = { label: [...filterByOwner(this.#options.owner).label, SNAPSHOT_LABEL] };
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    const found = await this.#options.client().json('GET', '/images/json', { query: { filters }, signal });
    return (Array.isArray(found) ? found : []).map(asFields).map(({ Id: id, RepoTags: tags }) => ({
      id: String(id),
      // Engines use this name for untagged images.
      names: (Array.isArray(tags) ? tags : []).map(String).filter((name) => name !== '<none>:<none>'),
    }));
  }

  #repository(): string {
    return `svc-sandbox-snapshot-${this.#options.owner}`;
  }

  #removedRepository(): string {
    return `svc-sandbox-removed-${this.#options.owner}`;
  }
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
