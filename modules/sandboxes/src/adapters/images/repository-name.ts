/** The first part of a repository's name, by what is in it. */
export const REPOSITORIES = { images: 'svc-images', templates: 'svc-templates' } as const;

export type RepositoryKind = (typeof REPOSITORIES)[keyof typeof REPOSITORIES];

/** A repository of the platform's registry: one image. */
export interface RepositoryName {
  readonly kind: RepositoryKind;
  /** The node that made the image, or the build of the template. */
  readonly source: string;
  /** Digest of the image in the store. */
  readonly image: string;
}

/** A part of a repository's name (OCI distribution-spec 1.1, "Pulling manifests"). */
export const NAME_PART = '^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$';

export function nameOfRepository({ kind, source, image }: RepositoryName): string {
  for (const part of [source, image]) {
    if (!new RegExp(NAME_PART).test(part)) throw new Error(`${part} cannot be a part of a repository's name`);
  }
  return `${kind}/${source}/${image}`;
}

/** Whether an image is of the catalog: built ones, which belong to workspaces, have digests of their own kind. */
export function isCatalogDigest(image: string): boolean {
  return /^sha(256|512)-[0-9a-f]+$/.test(image);
}
