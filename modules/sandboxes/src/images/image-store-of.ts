import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { SandboxesConfig } from '../config.ts';
import { verifiedAgentBinary } from '../drivers/local/agent-binary.ts';
import type { ImageCatalog } from './catalog.ts';
import { ImageStore, type ImageStoreOptions } from './image-store.ts';
import { helperUnpacker } from './store/layer-unpacker.ts';

export interface ImageStoreSetting extends Pick<ImageStoreOptions, 'nowMs' | 'log'> {
  readonly config: SandboxesConfig;
  readonly catalog: ImageCatalog;
  /** The platform's data folder, absolute. */
  readonly dataFolder: string;
  /** Folder of the helper's binaries. */
  readonly agentFolder: string;
}

const MiB = 1024 * 1024;

/** The images of a data folder as the configuration has them. */
export function imageStoreOf({ config, catalog, dataFolder, agentFolder, ...others }: ImageStoreSetting): ImageStore {
  const folder = sandboxesFolderOf(dataFolder);
  let helper: Promise<string> | null = null;
  return new ImageStore({
    ...others,
    folder: config.image_cache ?? join(folder, 'images'),
    catalog,
    owner: folder,
    unpack: helperUnpacker(() => (helper ??= verifiedAgentBinary(agentFolder, process.arch))),
    settings: config.registries,
    proxy: config.image_proxy ?? null,
    maxImageBytes: config.image_max_mb * MiB,
    sleep: (delayMs, signal) => sleepFor(delayMs, undefined, { signal }),
  });
}

/** Where this module keeps to. */
export function sandboxesFolderOf(dataFolder: string): string {
  return join(dataFolder, 'sandboxes');
}
