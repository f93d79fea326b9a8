/** A source of an image. Sources are tried in list order. */
export type ImageSourceSpec =
  /** A registry image, such as `docker.io/library/alpine:3` or `registry.example/team/app@sha256:…`. */
  | { readonly kind: 'registry'; readonly reference: string }
  /** Debian packages from the machine's own apt sources. */
  | { readonly kind: 'debootstrap'; readonly suite: string; readonly packages: readonly string[] }
  /** The distribution's statically linked busybox, with a link for each of its programs. */
  | { readonly kind: 'busybox' }
  /** A tar archive of a root file system on this machine. */
  | { readonly kind: 'rootfs_tar'; readonly path: string };

export interface ImageEntry {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly popular: boolean;
  readonly aliases: readonly string[];
  readonly sources: readonly ImageSourceSpec[];
}

/** The available images, by name and alias. Unknown names are rejected, never looked up elsewhere. */
export class ImageCatalog {
  readonly entries: readonly ImageEntry[];
  readonly defaultName: string | null;
  readonly #byName: ReadonlyMap<string, ImageEntry>;

  constructor(entries: readonly ImageEntry[], defaultName: string | null) {
    const byName = new Map<string, ImageEntry>();
    for (const entry of entries) {
      for (const name of [entry.name, ...entry.aliases]) {
        if (byName.has(name)) throw new Error(`two images are called ${name}`);
        byName.set(name, entry);
      }
    }
    this.entries = entries;
    this.defaultName = defaultName;
    this.#byName = byName;
  }

  find(nameOrAlias: string): ImageEntry | null {
    return this.#byName.get(nameOrAlias) ?? null;
  }

  /** Every name that a create request accepts. */
  names(): string[] {
    return [...this.#byName.keys()];
  }
}
