import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { NO_SETTINGS, type ImageSettings } from '../image-settings.ts';
import { namesIn, readIfThere, writeWhole } from './files.ts';
import type { StoredLayer } from './layer-store.ts';

/** What an image is made of: `images/<digest>/image.json`. */
export interface ImageRecord {
  /** `sha256-<hex>` of its manifest, or of the archive that it was made from. */
  readonly digest: string;
  /** The lowest first. */
  readonly layers: readonly StoredLayer[];
  readonly settings: ImageSettings;
}

/** Which image a name stands for: `names/<name>-<key>.json`. */
export interface NameRecord {
  readonly name: string;
  readonly digest: string;
  /** Which source gave it, for people. */
  readonly source: string;
  /** ISO 8601; when it was last found to be this. */
  readonly preparedAt: string;
}

/** The small files that say what is there. */
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

  /** A changed list of sources is another image: its key is part of the file's name. */
  keyOf(name: string, sources: unknown): string {
    const key = createHash('sha256').update(JSON.stringify(sources)).digest('hex').slice(0, 12);
    return `${name}-${key}.json`;
  }

  async name(key: string): Promise<NameRecord | null> {
    const text = await readIfThere(join(this.#folder, 'names', key));
    if (text === null) return null;
    const { name, digest, source, preparedAt } = JSON.parse(text) as Partial<NameRecord>; // written by writeName
    if (digest === undefined) return null;
    // Records of earlier versions say less.
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
