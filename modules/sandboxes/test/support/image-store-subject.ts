import { setTimeout as sleepFor } from 'node:timers/promises';
import { temporaryFolder } from '@svc/testing';
import { ImageCatalog, type ImageEntry, type ImageSourceSpec } from '../../src/domain/images/catalog.ts';
import { ImageStore, type ImageStoreOptions } from '../../src/adapters/images/image-store.ts';
import type { RegistrySettings } from '../../src/adapters/images/registry/registries.ts';
import { registrySource } from '../../src/adapters/images/registry/registry-source.ts';
import { helperUnpacker } from '../../src/adapters/images/disk/layer-unpacker.ts';
import { helperBinaries } from './local-subject.ts';

export interface ImageStoreSubject extends AsyncDisposable {
  readonly folder: string;
  /** Opens another store on the same folder, as another process would; the caller closes it. */
  open(
    images: Readonly<Record<string, readonly ImageSourceSpec[]>>,
    options?: Partial<ImageStoreOptions> & { readonly settings?: readonly RegistrySettings[] },
  ): Promise<ImageStore>;
}

/** An empty folder for images, with the real unpacker. */
export async function imageStoreSubject(): Promise<ImageStoreSubject> {
  const folder = await temporaryFolder('svc-images-');
  return {
    folder: folder.path,
    async open(images, { settings = [], ...options } = {}) {
      const store = new ImageStore({
        folder: folder.path,
        catalog: new ImageCatalog(Object.entries(images).map(createEntry), null),
        owner: folder.path,
        unpack: helperUnpacker(async () => (await helperBinaries(process.arch)).file),
        registry: registrySource({ settings, proxy: null, nowMs: Date.now }),
        nowMs: Date.now,
        maxImageBytes: 256 * 1024 * 1024,
        sleep: (delayMs, signal) => sleepFor(Math.min(delayMs, 1), undefined, { signal }),
        ...options,
      });
      await store.open();
      return store;
    },
    [Symbol.asyncDispose]: () => folder.remove(),
  };
}

function createEntry([name, sources]: readonly [string, readonly ImageSourceSpec[]]): ImageEntry {
  return { name, displayName: name, description: '', category: 'test', tags: [], popular: true, aliases: [], sources };
}
