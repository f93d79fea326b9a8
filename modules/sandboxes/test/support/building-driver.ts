import { createHash } from 'node:crypto';
import type { BuildDriver, SandboxSpec } from '../../src/domain/driver.ts';
import { NO_SETTINGS, type ImageSettings } from '../../src/domain/images/image-settings.ts';
import { sandboxErrors } from '../../src/errors.ts';
import { chunksOf, FakeDriver, textOf } from './fake-driver.ts';

const CHUNK_BYTES = 64 * 1024;

/** A fake driver that makes images, which are settings and files of no meaning. */
export class BuildingDriver extends FakeDriver {
  readonly #images = new Map<string, ImageSettings>();
  readonly #layers = new Set<string>();
  /** Awaited before the image of a template is read for an archive, or added from one. */
  beforeImageCopy: (digest: string) => Promise<void> = async () => undefined;
  /** The files of each image of a template. */
  files: Buffer = Buffer.alloc(0);
  /** What it says they have. */
  claimedBytes = (): number => this.files.length;
  /** Images that were added from archives, in order. */
  readonly added: string[] = [];
  readonly #imageOf = new Map<string, string>();

  readonly builds: BuildDriver = {
    base: async (image) => {
      if (image === 'nothing') throw sandboxErrors.UNKNOWN_IMAGE({ details: { image } });
      return { digest: this.#keep(`image ${image}`, NO_SETTINGS), settings: NO_SETTINGS };
    },
    find: async (digest) => {
      const settings = this.#images.get(digest);
      return settings === undefined ? null : { digest, settings };
    },
    commit: async (id, layerId) => {
      const base = this.#imageOf.get(id);
      if (base === undefined) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
      const digest = this.#keep(`${base} ${layerId}`, this.#images.get(base) ?? NO_SETTINGS);
      this.#layers.add(layerId);
      this.#imageOf.set(id, digest);
      return { digest, sizeBytes: 1024 };
    },
    hold: async (_digest, layerId) => void this.#layers.add(layerId),
    configure: async (digest, layerId, settings, scope) => {
      this.#layers.add(layerId);
      return this.#keep(`${digest} ${JSON.stringify(settings)} ${scope}`, settings);
    },
    remove: async (layerId) => void this.#layers.delete(layerId),
    list: async () => [...this.#layers],
  };

  /** As if the images that were built here were lost. */
  loseImages(): void {
    this.#images.clear();
  }

  protected override async describeImage(digest: string): Promise<{ isBuilt: boolean; sizeBytes: number }> {
    return { ...(await super.describeImage(digest)), sizeBytes: this.claimedBytes() + 4096 };
  }

  protected override async *readImage(digest: string): AsyncGenerator<Uint8Array> {
    if (!digest.startsWith('built-')) return yield* super.readImage(digest);
    await this.beforeImageCopy(digest);
    const settings = this.#images.get(digest);
    if (settings === undefined) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its image is gone' } });
    yield* chunksOf(`${JSON.stringify(settings)}\n`);
    for (let at = 0; at < this.files.length; at += CHUNK_BYTES) yield this.files.subarray(at, at + CHUNK_BYTES);
  }

  protected override async addImage(digest: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    if (!digest.startsWith('built-')) return super.addImage(digest, content);
    await this.beforeImageCopy(digest);
    this.#images.set(digest, JSON.parse((await textOf(content)).split('\n', 1)[0] ?? '') as ImageSettings); // written by `readImage`
    this.added.push(digest);
  }

  override async create(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    const digest = typeof spec.snapshotId === 'string' ? undefined : spec.template?.digest;
    if (digest !== undefined && !this.#images.has(digest) && !this.sandboxes.has(spec.id)) {
      throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its template is gone' } });
    }
    await super.create(spec, signal);
    this.#imageOf.set(spec.id, spec.template?.digest ?? 'none');
  }

  override async remove(id: string): Promise<void> {
    await super.remove(id);
    this.#imageOf.delete(id);
  }

  #keep(content: string, settings: ImageSettings): string {
    const digest = `built-${createHash('sha256').update(content).digest('hex')}`;
    this.#images.set(digest, settings);
    return digest;
  }
}
