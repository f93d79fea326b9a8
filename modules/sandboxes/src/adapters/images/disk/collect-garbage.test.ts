import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_SETTINGS } from '../../../domain/images/image-settings.ts';
import { collectGarbage, type CollectorDeps } from './collect-garbage.ts';
import { ImageRecords } from './image-records.ts';
import { LayerStore, type StoredLayer } from './layer-store.ts';
import { References } from './references.ts';

const DIGEST = `sha256-${'a'.repeat(64)}`;

describe('collectGarbage', () => {
  let folder: TemporaryFolder;
  let deps: CollectorDeps & { readonly layers: LayerStore };
  let layer: StoredLayer;
  beforeEach(async () => {
    folder = await temporaryFolder();
    for (const name of ['layers', 'images', 'names', 'holds', 'leases', 'work']) await mkdir(join(folder.path, name));
    const unpack = () => Promise.resolve({ digest: 'b'.repeat(64), bytes: 7, entries: 1 });
    const layers = new LayerStore(folder.path, unpack, { maxBytes: 1000, maxEntries: 10 });
    layer = await layers.add({ diffId: null, open: () => Promise.resolve(Readable.from([])) }, neverAborted());
    deps = {
      records: new ImageRecords(folder.path),
      layers,
      references: new References(folder.path, folder.path),
    };
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  const prepare = async (): Promise<void> => {
    await deps.records.writeImage({ digest: DIGEST, layers: [layer], settings: NO_SETTINGS });
    const named = { name: 'busybox', digest: DIGEST, source: 'an archive', preparedAt: '2026-11-22T00:00:00.000Z' };
    await deps.records.writeName('busybox-key.json', named);
  };

  it('removes unused images and layers', async () => {
    await deps.records.writeImage({ digest: DIGEST, layers: [layer], settings: NO_SETTINGS });
    expect(await collectGarbage(deps)).toEqual({ images: 1, layers: 1, bytes: 7 });
    await expect(stat(deps.layers.treeOf(layer.name))).rejects.toThrow(/ENOENT/);
  });

  it('never sets aside a layer whose image is completed after the images were listed', async () => {
    const { names } = LayerStore.prototype;
    vi.spyOn(deps.layers, 'names').mockImplementation(async () => {
      const found = await names.call(deps.layers);
      await prepare();
      return found;
    });
    const setAside = vi.spyOn(deps.layers, 'setAside');
    expect(await collectGarbage(deps)).toEqual({ images: 0, layers: 0, bytes: 0 });
    expect(setAside).not.toHaveBeenCalled();
  });

  it('keeps an image that gets a name after the names were listed', async () => {
    await deps.records.writeImage({ digest: DIGEST, layers: [layer], settings: NO_SETTINGS });
    vi.spyOn(deps.records, 'imageDigests').mockImplementationOnce(async () => {
      await prepare();
      return [DIGEST];
    });
    const removeImage = vi.spyOn(deps.records, 'removeImage');
    expect(await collectGarbage(deps)).toEqual({ images: 0, layers: 0, bytes: 0 });
    expect(removeImage).not.toHaveBeenCalled();
  });
});

function neverAborted(): AbortSignal {
  return new AbortController().signal;
}
