import { join } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { HelperBinaries } from '@svc/helper-binary';
import type { SandboxesConfig } from '../../config.ts';
import { imagesInUse } from '../drivers/local/kept-sandbox.ts';
import type { ImageCatalog } from '../../domain/images/catalog.ts';
import { createCatalog } from './default-catalog.ts';
import { ImageExports, type ImageExportsOptions } from './image-exports.ts';
import { ImageStore, type ImageStoreOptions } from './image-store.ts';
import type { ImageUpkeep } from './image-upkeep.ts';
import { registrySource } from './registry/registry-source.ts';
import { helperUnpacker } from './disk/layer-unpacker.ts';

export interface ImageStoreSetting extends Pick<ImageStoreOptions, 'nowMs' | 'log' | 'disk'> {
  readonly config: SandboxesConfig;
  readonly catalog: ImageCatalog;
  /** The platform's data folder, absolute. */
  readonly dataFolder: string;
  /** Provides the program that unpacks layers. */
  readonly helperBinaries: HelperBinaries;
}

const MiB = 1024 * 1024;

/** Creates the image store of a data folder from the configuration. */
export function createImageStore({
  config,
  catalog,
  dataFolder,
  helperBinaries,
  ...others
}: ImageStoreSetting): ImageStore {
  const folder = sandboxesFolderOf(dataFolder);
  return new ImageStore({
    ...others,
    folder: imagesFolderOf(config, folder),
    catalog,
    owner: folder,
    unpack: helperUnpacker(async () => (await helperBinaries(process.arch)).file),
    registry: registrySource({ settings: config.registries, proxy: config.image_proxy ?? null, nowMs: others.nowMs }),
    maxImageBytes: config.image_max_mb * MiB,
    sleep: (delayMs, signal) => sleepFor(delayMs, undefined, { signal }),
  });
}

/** Creates the exports of the same images. */
export function createImageExports({
  config,
  dataFolder,
  helperBinaries,
  ...others
}: Pick<ImageStoreSetting, 'config' | 'dataFolder' | 'helperBinaries'> &
  Pick<ImageExportsOptions, 'disk' | 'shareOf'>): ImageExports {
  const owner = sandboxesFolderOf(dataFolder);
  const packer = async (): Promise<string> => (await helperBinaries(process.arch)).file;
  return new ImageExports({ folder: imagesFolderOf(config, owner), owner, packer, ...others });
}

function imagesFolderOf(config: SandboxesConfig, folder: string): string {
  return config.image_cache ?? join(folder, 'images');
}

/** The module's own folder in the data folder. */
function sandboxesFolderOf(dataFolder: string): string {
  return join(dataFolder, 'sandboxes');
}

export async function openImageUpkeep(setting: Omit<ImageStoreSetting, 'catalog'>): Promise<ImageUpkeep> {
  const catalog = createCatalog(setting.config);
  const images = createImageStore({ ...setting, catalog });
  await images.open();
  // Earlier versions recorded the images in use only with the sandboxes.
  await images.declare(await imagesInUse(sandboxesFolderOf(setting.dataFolder)), { exactly: false });
  return {
    catalog: catalog.entries,
    list: () => images.list(),
    pull: (name, signal, listener) => images.pull(name, signal, listener),
    remove: async (name) => ((await images.forget(name)) ? images.collect() : null),
    close: () => images.close(),
  };
}
