import { fileURLToPath } from 'node:url';

/** The binaries of the sandboxes' helper come with the project. */
export const HELPER_FOLDER = folder('native/sandbox-agent/bin');

/** So do chart and manifest of the agent in a cluster. */
export const DEPLOY_FOLDER = folder('deploy');

function folder(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
