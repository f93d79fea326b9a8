import type { ImageSourceSpec } from '../../../domain/images/catalog.ts';
import { NO_SETTINGS, type ImageSettings } from '../../../domain/images/image-settings.ts';
import type { ProgressBoard } from '../../../domain/images/progress.ts';
import { detectCompression, openDecompressed } from '../disk/decompress.ts';
import type { LayerStore, StoredLayer } from '../disk/layer-store.ts';
import type { PartialFiles } from '../disk/partial-files.ts';
import { buildFromBusybox } from './busybox.ts';
import { buildFromDebianPackages } from './debootstrap.ts';
import { stat } from 'node:fs/promises';

/** What a source has available. */
export interface SourceContext {
  /** An empty folder, removed afterwards. */
  readonly workFolder: string;
  readonly signal: AbortSignal;
  readonly layers: LayerStore;
  readonly partials: PartialFiles;
  readonly registry: RegistrySource;
  readonly progress: ProgressBoard;
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
  /** Maximum total size of an image's layers, compressed or not. */
  readonly maxImageBytes: number;
}

/** An image whose layers are in the store. */
export interface FetchedImage {
  /** `sha256:<hex>` */
  readonly digest: string;
  /** Lowest layer first. */
  readonly layers: readonly StoredLayer[];
  readonly settings: ImageSettings;
}

/** Client for registries; owns the connections. */
export interface RegistrySource {
  /** Pulls the image for this machine's architecture. Throws with a reason for people. */
  pull(reference: string, context: SourceContext): Promise<FetchedImage>;
  close(): Promise<void>;
}

/** Builds a tar archive of a root file system and returns its path, in the work folder or elsewhere. */
type BuildArchive = (workFolder: string, signal: AbortSignal) => Promise<string>;

/** Adds the image to the store. Throws with a reason for people. */
export function fetchFrom(spec: ImageSourceSpec, context: SourceContext): Promise<FetchedImage> {
  switch (spec.kind) {
    case 'registry':
      return context.registry.pull(spec.reference, context);
    case 'debootstrap':
      return fromArchive((workFolder, signal) => buildFromDebianPackages(spec, workFolder, signal), context);
    case 'busybox':
      return fromArchive(buildFromBusybox, context);
    case 'rootfs_tar':
      return fromArchive(() => useRootfsTar(spec.path), context);
  }
}

async function fromArchive(build: BuildArchive, context: SourceContext): Promise<FetchedImage> {
  const archive = await build(context.workFolder, context.signal);
  const compression = await detectCompression(archive);
  const open = async () => openDecompressed(archive, compression);
  const layer = await context.layers.add({ diffId: null, open }, context.signal);
  if (layer.entries === 0) throw new Error('the archive is empty');
  return { digest: layer.name.replace('-', ':'), layers: [layer], settings: NO_SETTINGS };
}

/** Names the source in messages. */
export function describeSource(spec: ImageSourceSpec): string {
  switch (spec.kind) {
    case 'registry':
      return `registry ${spec.reference}`;
    case 'debootstrap':
      return `Debian packages (${spec.suite})`;
    case 'busybox':
      return 'busybox of this machine';
    case 'rootfs_tar':
      return `archive ${spec.path}`;
  }
}

/** Validates the operator's archive on this machine; it is unpacked in place. */
async function useRootfsTar(path: string): Promise<string> {
  const found = await stat(path);
  if (!found.isFile()) throw new Error(`${path} is not a file`);
  return path;
}
