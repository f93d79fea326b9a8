/** Where the agent's image is pulled from; a digest wins over a tag (OCI Distribution 1.1, "Pulling manifests"). */
export interface ImageReference {
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
}

/** For the configuration: empty, or `repository[:tag][@digest]`. */
export const IMAGE_PATTERN =
  '^$|^([a-z0-9][a-z0-9.-]*(?::[0-9]+)?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*)(?::(\\w[\\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$';

/** Takes what the pattern takes; null for the empty one. */
export function parseImage(reference: string): ImageReference | null {
  const [, repository, tag = '', digest = ''] = new RegExp(IMAGE_PATTERN).exec(reference) ?? [];
  return repository === undefined ? null : { repository, tag, digest };
}

/** What nodes pull from the platform itself; the version is the chart's own. */
export function platformImage(publicUrl: string, repository: string): ImageReference {
  return { repository: `${new URL(publicUrl).host}/${repository}`, tag: '', digest: '' };
}

/** The plain manifest with another image than the one that it was rendered with; with its own version where none is said. */
export function withImage(manifest: string, { repository, tag, digest }: ImageReference): string {
  const suffix = `${tag === '' ? '' : `:${tag}`}${digest === '' ? '' : `@${digest}`}`;
  return manifest.replaceAll(
    /^( *image: )"localhost\/svc-agent(:[^"]*)"$/gm,
    (_line, before: string, version: string) => `${before}"${repository}${suffix === '' ? version : suffix}"`,
  );
}
