import { imagesInUse } from '../drivers/local/kept-sandbox.ts';
import type { ImageEntry } from './catalog.ts';
import { catalogOf } from './default-catalog.ts';
import { imageStoreOf, sandboxesFolderOf, type ImageStoreSetting } from './image-store-of.ts';
import type { PulledImage, StoredImage } from './image-store.ts';
import type { ImageProgress } from './progress.ts';
import type { GarbageReport } from './store/collect-garbage.ts';

/** Images of a data folder for its operator, beside a running platform or without one. */
export interface ImageUpkeep {
  readonly catalog: readonly ImageEntry[];
  list(): Promise<readonly StoredImage[]>;
  /** Asks the sources (again). Throws UNKNOWN_IMAGE and IMAGE_PULL_FAILED. */
  pull(name: string, signal: AbortSignal, listener: (progress: ImageProgress) => void): Promise<PulledImage>;
  /** Null when no image of that name is here. What sandboxes need stays until they are gone. */
  remove(name: string): Promise<GarbageReport | null>;
  close(): Promise<void>;
}

export async function openImageUpkeep(setting: Omit<ImageStoreSetting, 'catalog'>): Promise<ImageUpkeep> {
  const catalog = catalogOf(setting.config);
  const images = imageStoreOf({ ...setting, catalog });
  await images.open();
  // A platform of an earlier version wrote down nowhere else what its sandboxes need.
  await images.declare(await imagesInUse(sandboxesFolderOf(setting.dataFolder)), { exactly: false });
  return {
    catalog: catalog.entries,
    list: () => images.list(),
    pull: (name, signal, listener) => images.pull(name, signal, listener),
    remove: async (name) => ((await images.forget(name)) ? images.collect() : null),
    close: () => images.close(),
  };
}
