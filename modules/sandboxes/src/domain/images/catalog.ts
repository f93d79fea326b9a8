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

  /**
   * The name of the image that a reference of Docker means: a name or alias of the catalog, also with the tag `latest`, or
   * the reference of one of its sources. Null if there is none.
   */
  findReference(reference: string): string | null {
    const named = this.find(reference) ?? this.find(reference.replace(/:latest$/, ''));
    if (named !== null) return named.name;
    const wanted = normalReference(reference);
    const known = ({ sources }: ImageEntry): boolean =>
      sources.some((source) => source.kind === 'registry' && normalReference(source.reference) === wanted);
    return (this.entries.find(known) ?? this.#byName.get(HUB_NAMES.get(wanted) ?? ''))?.name ?? null;
  }

  /** Every name that a create request accepts. */
  names(): string[] {
    return [...this.#byName.keys()];
  }
}

/** Images of Docker Hub that the catalog has under other names, also where it prepares them without a registry. */
const HUB_NAMES: ReadonlyMap<string, string> = new Map([
  ['docker.io/library/ubuntu:22.04', 'ubuntu-22'],
  ['docker.io/library/ubuntu:24.04', 'ubuntu'],
  ['docker.io/library/debian:12', 'debian-12'],
  ['docker.io/library/debian:bookworm', 'debian-12'],
  ['docker.io/library/debian:stable', 'debian'],
  ['docker.io/library/python:3', 'python'],
  ['docker.io/library/node:lts', 'node'],
  ['docker.io/library/alpine:3', 'alpine'],
]);

/** With registry, repository and tag, as Docker completes it. */
function normalReference(reference: string): string {
  const [first = '', ...rest] = reference.split('/');
  const hasHost = rest.length > 0 && /[.:]|^localhost$/.test(first);
  const path = hasHost ? rest.join('/') : reference;
  const whole = `${hasHost ? first : 'docker.io'}/${path.includes('/') || hasHost ? path : `library/${path}`}`;
  return /[@:][^/]*$/.test(path) ? whole : `${whole}:latest`;
}
