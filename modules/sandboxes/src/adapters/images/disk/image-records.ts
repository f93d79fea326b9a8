import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { NO_SETTINGS, type ImageSettings } from '../../../domain/images/image-settings.ts';
import { namesIn, readIfThere, writeWhole } from './files.ts';
import type { StoredLayer } from './layer-store.ts';

/** The content of an image: `images/<digest>/image.json`. */
export interface ImageRecord {
  /** `sha256-<hex>` of its manifest, or of the archive it was built from. */
  readonly digest: string;
  /** Lowest layer first. */
  readonly layers: readonly StoredLayer[];
  readonly settings: ImageSettings;
}

/** Maps a name to an image: `names/<name>-<key>.json`. */
export interface NameRecord {
  readonly name: string;
  readonly digest: string;
  /** The source it came from, for people. */
  readonly source: string;
  /** When the source last resolved to this image. ISO 8601. */
  readonly preparedAt: string;
}

/** Reads and writes the metadata files of images and names. */
export class ImageRecords {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async image(digest: string): Promise<ImageRecord | null> {
    if (!/^[a-z0-9]+-[0-9a-f]+$/.test(digest)) return null;
    const text = await readIfThere(join(this.#folder, 'images', digest, 'image.json'));
    if (text === null) return null;
    const { layers, settings } = JSON.parse(text) as ImageRecord; // written by writeImage
    return { digest, layers, settings: { ...NO_SETTINGS, ...settings } };
  }

  async writeImage(record: ImageRecord): Promise<void> {
    const folder = join(this.#folder, 'images', record.digest);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeWhole(join(folder, 'image.json'), JSON.stringify(record));
  }

  async removeImage(digest: string): Promise<void> {
    await rm(join(this.#folder, 'images', digest), { recursive: true, force: true });
  }

  imageDigests(): Promise<string[]> {
    return namesIn(join(this.#folder, 'images'));
  }

  /** Changed sources mean another image, so the file name includes a hash of them. */
  keyOf(name: string, sources: unknown): string {
    const key = createHash('sha256').update(JSON.stringify(sources)).digest('hex').slice(0, 12);
    return `${name}-${key}.json`;
  }

  async name(key: string): Promise<NameRecord | null> {
    const text = await readIfThere(join(this.#folder, 'names', key));
    if (text === null) return null;
    const { name, digest, source, preparedAt } = JSON.parse(text) as Partial<NameRecord>; // written by writeName
    if (digest === undefined) return null;
    // Records of earlier versions lack fields.
    const usual = key.replace(/-[0-9a-f]{12}\.json$/, '');
    return { name: name ?? usual, digest, source: source ?? '', preparedAt: preparedAt ?? '' };
  }

  async writeName(key: string, record: NameRecord): Promise<void> {
    await writeWhole(join(this.#folder, 'names', key), JSON.stringify(record));
  }

  async removeName(key: string): Promise<void> {
    await rm(join(this.#folder, 'names', key), { force: true });
  }

  async names(): Promise<(NameRecord & { readonly key: string })[]> {
    const found = [];
    for (const key of await namesIn(join(this.#folder, 'names'))) {
      const record = key.endsWith('.json') ? await this.name(key) : null;
      if (record !== null) found.push({ ...record, key });
    }
    return found;
  }
}
