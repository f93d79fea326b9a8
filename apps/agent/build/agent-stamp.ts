import { namesOf, readBuildStamp, type Architecture, type BuildStamp } from '@svc/packaging';

/** Version, commit and date of the agent's sources. */
export function readAgentStamp(root: string): Promise<BuildStamp> {
  return readBuildStamp({ root, manifest: 'apps/agent/package.json', sources: ['apps/agent', 'packages'] });
}

/** File name under which a platform looks for the image. */
export function archiveNameOf(architecture: Architecture): string {
  return `svc-agent-${namesOf(architecture).oci}.tar`;
}
