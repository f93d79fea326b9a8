import { sandboxErrors } from '../../../errors.ts';
import { assertSandboxId, type SnapshotDriver } from '../../../domain/driver.ts';
import { asFields, isConflict, isMissing, type EngineClient } from './engine-client.ts';
import { engineFailure } from './engine-failure.ts';
import { findImage } from './find-image.ts';
import { engineName, filterByOwner, OWNER_LABEL, SNAPSHOT_LABEL } from './names.ts';

/** Copying many gigabytes takes an engine its time. */
const TAKE_LIMIT_MS = 30 * 60_000;
const REQUEST_LIMIT_MS = 60_000;

export interface DockerSnapshotsOptions {
  readonly owner: string;
  /** The engine as it is now; throws SANDBOXES_UNAVAILABLE. */
  readonly client: () => EngineClient;
}

/**
 * Copies of files as images: the engine commits what a container wrote as one more layer. An engine keeps the image of a
 * snapshot that was removed for as long as a container or another image stands on it; meanwhile it has a name that says
 * so, and `sweep` removes it with the last of them.
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
      const [whole, below] = await Promise.all([image, base].map((each) => sizeOf(client, String(each), signal)));
      return { sizeBytes: Math.max(0, (whole ?? 0) - (below ?? 0)) };
    } catch (error) {
      if (isMissing(error)) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
      throw engineFailure(error, 'ROOTFS_FAILED');
    }
  }

  /** The engine's disk is not the platform's to watch. */
  sizeBytes(): Promise<number> {
    return Promise.resolve(0);
  }

  /** The id of its image. */
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
      await client.json('DELETE', `/images/${name}`, { signal }); // the name only: the image has another now
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
   * Removes the images of removed snapshots that nothing stands on now. Those without any name were cut off half-made, or
   * are being made at this moment: they go with `halfMade`, for when nobody can be making one.
   */
  async sweep({ halfMade }: { readonly halfMade: boolean }): Promise<void> {
    const client = this.#options.client();
    const signal = AbortSignal.timeout(REQUEST_LIMIT_MS);
    const prefix = `${this.#removedRepository()}:`;
    // One that goes may be the last that stood on another.
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
      // Engines call one without a name so.
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

/** False when something stands on it still. */
async function removeUnused(client: EngineClient, image: string, signal: AbortSignal): Promise<boolean> {
  try {
    await client.json('DELETE', `/images/${image}`, { signal });
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    if (isMissing(error)) return true; // by somebody else meanwhile
    throw error;
  }
}

async function sizeOf(client: EngineClient, image: string, signal: AbortSignal): Promise<number> {
  const { Size: size } = asFields(await client.json('GET', `/images/${image}/json`, { signal }));
  return typeof size === 'number' ? size : 0;
}
