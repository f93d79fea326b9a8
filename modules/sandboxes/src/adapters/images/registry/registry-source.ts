import { rm } from 'node:fs/promises';
import { downloadBlob } from './blob-download.ts';
import type { LayerDescriptor } from './manifest.ts';
import { parseReference, type ImageReference } from './reference.ts';
import type { RegistryClient, ResolvedImage } from './registry-client.ts';
import { RegistryFailure } from './registry-failure.ts';
import { Registries, type RegistriesOptions } from './registries.ts';
import { openDecompressed } from '../disk/decompress.ts';
import { nameOfDigest, type StoredLayer } from '../disk/layer-store.ts';
import type { FetchedImage, RegistrySource, SourceContext } from '../sources/image-source.ts';

/** Creates the registry source from the configuration. */
export function registrySource(options: RegistriesOptions): RegistrySource {
  const registries = new Registries(options);
  return {
    pull: (reference, context) => pullFrom(registries, reference, context),
    close: () => registries.close(),
  };
}

/** Pulls an image; layers already in the store are not fetched. */
async function pullFrom(registries: Registries, text: string, context: SourceContext): Promise<FetchedImage> {
  const reference = parseReference(text);
  if (reference === null) throw new RegistryFailure('it is no reference of an image');
  const client = await registries.findOrCreateClient(reference);
  const image = await client.resolve(reference, architectureOf(process.arch), context.signal);
  assertSize(image, context.maxImageBytes);
  const missing = await missingLayers(image, context);
  context.progress.expect(
    image.diffIds.length,
    missing.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  );
  const layers = await allLayers(image, context, (index, signal) =>
    addLayer(index, { image, client, reference, context: { ...context, signal } }),
  );
  const unpackedBytes = layers.reduce((sum, { bytes }) => sum + bytes, 0);
  if (unpackedBytes > context.maxImageBytes) throw tooLarge(context.maxImageBytes);
  return { digest: image.digest, layers, settings: image.settings };
}

interface LayerJob {
  readonly image: ResolvedImage;
  readonly client: RegistryClient;
  readonly reference: ImageReference;
  readonly context: SourceContext;
}

async function addLayer(index: number, { image, client, reference, context }: LayerJob): Promise<StoredLayer> {
  const [blob, diffId] = [image.manifest.layers[index], image.diffIds[index]];
  if (blob === undefined || diffId === undefined) throw new RegistryFailure('it has fewer layers than it names');
  const { partials, signal, sleep, progress } = context;
  let file: string | null = null;
  try {
    const open = async () => {
      file = await partials.take(blob.digest);
      await downloadBlob({
        client,
        reference,
        blob,
        file,
        signal,
        sleep,
        progress: (bytes) => progress.downloaded(blob.digest, bytes),
      });
      return openDecompressed(file, blob.compression);
    };
    const layer = await context.layers.add({ diffId, open }, signal);
    if (file !== null) await rm(file, { force: true });
    progress.layerDone();
    return layer;
  } catch (error) {
    if (file !== null) await partials.leave(file);
    throw error;
  }
}

/**
 * Adds all layers; the store limits concurrency. The first failure cancels the others, and all have ended when this
 * throws.
 */
async function allLayers(
  { diffIds }: ResolvedImage,
  { signal }: SourceContext,
  work: (index: number, signal: AbortSignal) => Promise<StoredLayer>,
): Promise<StoredLayer[]> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const layers = diffIds.map(async (_, index) => {
    try {
      return await work(index, either);
    } catch (error) {
      failed.abort(error); // only the first reason is kept
      throw error;
    }
  });
  await Promise.allSettled(layers);
  either.throwIfAborted();
  return Promise.all(layers);
}

async function missingLayers(
  { manifest, diffIds }: ResolvedImage,
  { layers }: SourceContext,
): Promise<LayerDescriptor[]> {
  const missing = new Map<string, LayerDescriptor>();
  for (const [index, layer] of manifest.layers.entries()) {
    const diffId = diffIds[index];
    if (diffId !== undefined && (await layers.find(nameOfDigest(diffId))) === null) missing.set(layer.digest, layer);
  }
  return [...missing.values()];
}

function assertSize({ manifest }: ResolvedImage, maxImageBytes: number): void {
  const bytes = manifest.layers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes > maxImageBytes) throw tooLarge(maxImageBytes);
}

function tooLarge(maxImageBytes: number): RegistryFailure {
  return new RegistryFailure(`it is larger than the ${Math.floor(maxImageBytes / 1024 / 1024)} MiB that are allowed`);
}

/** The architecture in OCI's naming. */
function architectureOf(arch: string): string {
  return arch === 'x64' ? 'amd64' : arch;
}
