import type { ImageEntry } from '../../domain/images/catalog.ts';
import type { PulledImage, StoredImage } from './image-store.ts';
import type { ImageProgress } from '../../domain/images/progress.ts';
import type { GarbageReport } from './disk/collect-garbage.ts';

/** Manages the images of a data folder for its operator, with or without a running platform. */
export interface ImageUpkeep {
  readonly catalog: readonly ImageEntry[];
  list(): Promise<readonly StoredImage[]>;
  /** Asks the sources (again). Throws UNKNOWN_IMAGE and IMAGE_PULL_FAILED. */
  pull(name: string, signal: AbortSignal, listener: (progress: ImageProgress) => void): Promise<PulledImage>;
  /** Returns null if there is no image with that name. Images that sandboxes need stay until the sandboxes are gone. */
  remove(name: string): Promise<GarbageReport | null>;
  close(): Promise<void>;
}
