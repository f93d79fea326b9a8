/**
 * Reference from which nodes pull the agent's image; a digest takes precedence over a tag (OCI Distribution 1.1,
 * "Pulling manifests").
 */
export interface ImageReference {
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

/** Pattern for the configuration: empty, or `repository[:tag][@digest]`. */
export const IMAGE_PATTERN =
  '^$|^([a-z0-9][a-z0-9.-]*(?::[0-9]+)?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*)(?::(\\w[\\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$';

/** Parses a reference that matches the pattern; null for an empty one. */
export function parseImage(reference: string): ImageReference | null {
  const [, repository, tag = '', digest = ''] = new RegExp(IMAGE_PATTERN).exec(reference) ?? [];
  return repository === undefined ? null : { repository, tag, digest };
}

/** The image that nodes pull from the platform itself. The version comes from the chart. */
export function platformImage(publicUrl: string, repository: string): ImageReference {
  return { repository: `${new URL(publicUrl).host}/${repository}`, tag: '', digest: '' };
}

/**
 * Replaces the image in the rendered plain manifest. Keeps the manifest's version if the reference has no tag or
 * digest.
 */
export function withImage(manifest: string, { repository, tag, digest }: ImageReference): string {
  const suffix = `${tag === '' ? '' : `:${tag}`}${digest === '' ? '' : `@${digest}`}`;
  return manifest.replaceAll(
    /^( *image: )"localhost\/svc-agent(:[^"]*)"$/gm,
    (_line, before: string, version: string) => `${before}"${repository}${suffix === '' ? version : suffix}"`,
  );
}
