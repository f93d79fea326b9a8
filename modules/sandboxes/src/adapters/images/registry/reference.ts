/** Location of an image, with Docker's defaults applied: `registry.example:5000/team/app:1.2` or `…@sha256:<hex>`. */
export interface ImageReference {
  /** Host with port, as users write it. */
  readonly registry: string;
  readonly repository: string;
  /** Null if only a digest was given. */
  readonly tag: string | null;
  /** `sha256:<hex>` of the exact manifest. */
  readonly digest: string | null;
}

export const DOCKER_HUB = 'docker.io';

const REPOSITORY = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const HOST = /^(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]{0,253}[A-Za-z0-9])?)(?::[0-9]{1,5})?$/;
const DIGEST = /^sha(?:256:[0-9a-f]{64}|512:[0-9a-f]{128})$/;

export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

/** Returns null for an invalid reference. Defaults to Docker Hub and the tag `latest`. */
export function parseReference(text: string): ImageReference | null {
  if (text.length > 512) return null;
  const [name = '', digest = null, ...rest] = text.split('@');
  if (rest.length > 0 || (digest !== null && !isDigest(digest))) return null;
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  // The first part is a host only if it looks like one: `team/app` is on Docker Hub.
  const hasHost = first === 'localhost' || /[.:\]]/.test(first);
  const registry = hasHost ? first : DOCKER_HUB;
  const path = hasHost ? name.slice(slash + 1) : name;
  const colon = path.lastIndexOf(':');
  const tag = colon < 0 ? null : path.slice(colon + 1);
  const bare = colon < 0 ? path : path.slice(0, colon);
  const repository = registry === DOCKER_HUB && !bare.includes('/') ? `library/${bare}` : bare;
  if (!HOST.test(registry) || !REPOSITORY.test(repository) || repository.length > 255) return null;
  if (tag !== null && !TAG.test(tag)) return null;
  return { registry, repository, tag: tag ?? (digest === null ? 'latest' : null), digest };
}

/** Name to request the manifest by: the digest if there is one. */
export function manifestNameOf({ digest, tag }: ImageReference): string {
  return digest ?? tag ?? 'latest';
}

export function formatReference({ registry, repository, tag, digest }: ImageReference): string {
  return `${registry}/${repository}${tag === null ? '' : `:${tag}`}${digest === null ? '' : `@${digest}`}`;
}
