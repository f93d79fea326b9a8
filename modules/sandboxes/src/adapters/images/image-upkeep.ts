import type { ImageEntry } from '../../domain/images/catalog.ts';
import type { PulledImage, StoredImage } from './image-store.ts';
import type { ImageProgress } from '../../domain/images/progress.ts';
import type { GarbageReport } from './disk/collect-garbage.ts';

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
