import type { ImageRecords } from './image-records.ts';
import type { LayerStore } from './layer-store.ts';
import type { References } from './references.ts';

export interface GarbageReport {
  readonly images: number;
  readonly layers: number;
  readonly bytes: number;
}

export interface CollectorParts {
  readonly records: ImageRecords;
  readonly layers: LayerStore;
  readonly references: References;
}

/**
 * Removes images that no name and no sandbox stands for, and layers that no image has. Another process may begin to need
 * something at any moment: a candidate is set aside first, then looked at again, and only then removed. Whoever needs
 * something says so before it looks whether it is there. Does nothing while an image is being prepared. What has become
 * needed since the look at all of them is not set aside either: a start that found it would miss it for that moment.
 */
export async function collectGarbage({ records, layers, references }: CollectorParts): Promise<GarbageReport> {
  const removed = { images: 0, layers: 0, bytes: 0 };
  if (await references.isLeased()) return removed;
  const isImageNeeded = async (digest: string): Promise<boolean> =>
    (await references.isLeased()) || (await neededImages(records, references)).has(digest);
  const isLayerNeeded = async (name: string): Promise<boolean> =>
    (await references.isLeased()) || (await neededLayers(records)).has(name);

  const images = await neededImages(records, references);
  for (const digest of await records.imageDigests()) {
    if (images.has(digest) || (await isImageNeeded(digest))) continue;
    const record = await records.image(digest);
    await records.removeImage(digest);
    if (record !== null && (await isImageNeeded(digest))) await records.writeImage(record);
    else removed.images += 1;
  }
  const layersInUse = await neededLayers(records);
  for (const name of await layers.names()) {
    if (layersInUse.has(name) || (await isLayerNeeded(name))) continue;
    const layer = await layers.find(name);
    const aside = await layers.setAside(name);
    if (aside === null) continue;
    if (await isLayerNeeded(name)) {
      await aside.restore();
      continue;
    }
    await aside.remove();
    removed.layers += 1;
    removed.bytes += layer?.bytes ?? 0;
  }
  return removed;
}

async function neededImages(records: ImageRecords, references: References): Promise<Set<string>> {
  const needed = await references.held();
  for (const { digest } of await records.names()) needed.add(digest);
  return needed;
}

async function neededLayers(records: ImageRecords): Promise<Set<string>> {
  const needed = new Set<string>();
  for (const digest of await records.imageDigests()) {
    const record = await records.image(digest);
    for (const { name } of record?.layers ?? []) needed.add(name);
  }
  return needed;
}
