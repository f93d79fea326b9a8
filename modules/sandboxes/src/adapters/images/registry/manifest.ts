import { readSettings, type ImageSettings } from '../../../domain/images/image-settings.ts';
import { isDigest } from './reference.ts';
import { RegistryFailure } from './registry-failure.ts';

export type LayerCompression = 'none' | 'gzip' | 'zstd';

/** Content in a registry, identified by its digest (OCI image-spec, descriptor). */
export interface BlobDescriptor {
  readonly digest: string;
  readonly sizeBytes: number;
}

export interface LayerDescriptor extends BlobDescriptor {
  readonly compression: LayerCompression;
}

export interface ImageManifest {
  readonly config: BlobDescriptor;
  /** Lowest layer first. */
  readonly layers: readonly LayerDescriptor[];
}

export interface IndexEntry extends BlobDescriptor {
  readonly os: string;
  readonly architecture: string;
  readonly variant: string | null;
}

export interface ImageConfiguration {
  /** Digests of the uncompressed layers, lowest first. */
  readonly diffIds: readonly string[];
  readonly settings: ImageSettings;
}

export const MANIFEST_TYPES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
] as const;
export const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;
export const MAX_CONFIGURATION_BYTES = 8 * 1024 * 1024;
export const MAX_LAYERS = 128;
const MAX_INDEX_ENTRIES = 1000;

/** Media types of layers, OCI's and Docker's. Non-distributable layers are stored elsewhere and rejected. */
const COMPRESSIONS: ReadonlyMap<string, LayerCompression> = new Map([
  ['application/vnd.oci.image.layer.v1.tar', 'none'],
  ['application/vnd.oci.image.layer.v1.tar+gzip', 'gzip'],
  ['application/vnd.oci.image.layer.v1.tar+zstd', 'zstd'],
  ['application/vnd.docker.image.rootfs.diff.tar', 'none'],
  ['application/vnd.docker.image.rootfs.diff.tar.gzip', 'gzip'],
  ['application/vnd.docker.image.rootfs.diff.tar.zstd', 'zstd'],
]);
const CONFIGURATIONS: ReadonlySet<string> = new Set([
  'application/vnd.oci.image.config.v1+json',
  'application/vnd.docker.container.image.v1+json',
]);

/** Parses an index or the manifest of one image. Throws `RegistryFailure` for anything else. */
export function parseManifest(content: Buffer, mediaType: string): readonly IndexEntry[] | ImageManifest {
  const document = parseDocument(content, 'manifest');
  const declared = document['mediaType'] ?? mediaType.split(';')[0]?.trim();
  if (document['schemaVersion'] !== 2) {
    throw new RegistryFailure('its manifest is of a schema that is not used any more; push it again with a newer tool');
  }
  // Never confuse an index with a manifest, whatever type is declared (GHSA-mc8v-mgrf-8f4m).
  const isIndex = Array.isArray(document['manifests']);
  if (isIndex && ('layers' in document || 'config' in document)) throw new RegistryFailure('its manifest is ambiguous');
  if (!MANIFEST_TYPES.some((type) => type === declared))
    throw new RegistryFailure(`${typeof declared === 'string' ? declared : 'it'} is no image`);
  if (isIndex !== (declared === MANIFEST_TYPES[0] || declared === MANIFEST_TYPES[1])) {
    throw new RegistryFailure('its manifest is not of the type that it declares');
  }
  return isIndex ? parseIndex(document['manifests']) : parseImage(document);
}

function parseIndex(manifests: unknown): IndexEntry[] {
  const entries = list(manifests, MAX_INDEX_ENTRIES, 'images');
  return entries.flatMap((entry) => {
    const { digest, sizeBytes } = descriptor(entry, MAX_MANIFEST_BYTES);
    const platform = parseObject(entry['platform']);
    const [os, architecture, variant] = [platform['os'], platform['architecture'], platform['variant']];
    if (typeof os !== 'string' || typeof architecture !== 'string') return [];
    return [{ digest, sizeBytes, os, architecture, variant: typeof variant === 'string' ? variant : null }];
  });
}

function parseImage(document: Record<string, unknown>): ImageManifest {
  const config = parseObject(document['config']);
  if (!CONFIGURATIONS.has(String(config['mediaType']))) {
    throw new RegistryFailure(`it is no container image but ${String(config['mediaType'])}`);
  }
  const layers = list(document['layers'], MAX_LAYERS, 'layers').map((layer) => {
    const compression = COMPRESSIONS.get(String(layer['mediaType']));
    if (compression === undefined) {
      throw new RegistryFailure(`a layer has the unsupported form ${String(layer['mediaType'])}`);
    }
    return { ...descriptor(layer, Number.MAX_SAFE_INTEGER), compression };
  });
  if (layers.length === 0) throw new RegistryFailure('it has no layers');
  return { config: descriptor(config, MAX_CONFIGURATION_BYTES), layers };
}

/** Parses the configuration of an image with `layerCount` layers. */
export function parseConfiguration(content: Buffer, layerCount: number): ImageConfiguration & { platform: string } {
  const document = parseDocument(content, 'configuration');
  const diffIds = parseObject(document['rootfs'])['diff_ids'];
  if (!Array.isArray(diffIds) || diffIds.length !== layerCount || !diffIds.every(isDiffId)) {
    throw new RegistryFailure('its configuration does not name the layers of its manifest');
  }
  const platform = `${String(document['os'])}/${String(document['architecture'])}`;
  return { diffIds, settings: readSettings(document['config']), platform };
}

/**
 * Chooses the entry for a platform: the best variant of the architecture (`v8` for `arm64`), the first among equals.
 * Throws `RegistryFailure` that lists the available platforms.
 */
export function chooseEntry(entries: readonly IndexEntry[], architecture: string): IndexEntry {
  const suited = entries.filter((entry) => entry.os === 'linux' && entry.architecture === architecture);
  const usual = architecture === 'arm64' ? 'v8' : null;
  const best =
    suited.find(({ variant }) => variant === usual) ?? suited.find(({ variant }) => variant === null) ?? suited[0];
  if (best !== undefined) return best;
  const known = entries.filter(({ os }) => os !== 'unknown').map((entry) => `${entry.os}/${entry.architecture}`);
  const offered = [...new Set(known)].slice(0, 20).join(', ');
  throw new RegistryFailure(`there is none for linux/${architecture}${offered === '' ? '' : `, only for ${offered}`}`);
}

function isDiffId(value: unknown): value is string {
  return typeof value === 'string' && isDigest(value);
}

function descriptor(entry: Record<string, unknown>, mostBytes: number): BlobDescriptor {
  const [digest, size] = [entry['digest'], entry['size']];
  if (!isDiffId(digest)) throw new RegistryFailure('it names contents by no digest that is known');
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0 || size > mostBytes) {
    throw new RegistryFailure(`it names contents of an impossible size`);
  }
  return { digest, sizeBytes: size };
}

function list(value: unknown, most: number, what: string): Record<string, unknown>[] {
  if (!Array.isArray(value)) throw new RegistryFailure(`its manifest has no ${what}`);
  if (value.length > most) throw new RegistryFailure(`it has more than ${most} ${what}`);
  return value.map(parseObject);
}

function parseDocument(content: Buffer, what: string): Record<string, unknown> {
  try {
    return parseObject(JSON.parse(content.toString('utf8')));
  } catch (error) {
    throw new RegistryFailure(`its ${what} is not JSON`, { cause: error });
  }
}

/** Fields of an expected object; callers check each field. */
function parseObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
