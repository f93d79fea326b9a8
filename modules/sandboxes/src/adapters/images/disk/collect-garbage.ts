import type { ImageRecords } from './image-records.ts';
import type { LayerStore } from './layer-store.ts';
import type { References } from './references.ts';

export interface GarbageReport {
  readonly images: number;
  readonly layers: number;
  readonly bytes: number;
}

export interface CollectorDeps {
  readonly records: ImageRecords;
  readonly layers: LayerStore;
  readonly references: References;
}

/**
 * Removes images without a name or a sandbox, and layers without an image. Another process may start to need something
 * at any moment, so a candidate is set aside, checked again, and only then removed; users declare a reference before
 * they look for the data. A candidate is also checked right before it is set aside, because a start that needs it by
 * then would not find it for that moment. Does nothing while an image is being prepared.
 */
export async function collectGarbage({ records, layers, references }: CollectorDeps): Promise<GarbageReport> {
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
