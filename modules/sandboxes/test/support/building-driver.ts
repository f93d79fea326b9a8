import { createHash } from 'node:crypto';
import type { BuildDriver, SandboxSpec } from '../../src/domain/driver.ts';
import { NO_SETTINGS, type ImageSettings } from '../../src/domain/images/image-settings.ts';
import { sandboxErrors } from '../../src/errors.ts';
import { FakeDriver } from './fake-driver.ts';

/** A fake driver that makes images, which are settings without files. */
export class BuildingDriver extends FakeDriver {
  readonly #images = new Map<string, ImageSettings>();
  readonly #layers = new Set<string>();
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
    configure: async (digest, layerId, settings) => {
      this.#layers.add(layerId);
      return this.#keep(`${digest} ${JSON.stringify(settings)}`, settings);
    },
    remove: async (layerId) => void this.#layers.delete(layerId),
    list: async () => [...this.#layers],
  };

  override async create(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
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
