import { fileURLToPath } from 'node:url';

/** Binaries of the sandbox helper, shipped with the project. */
export const HELPER_FOLDER = folder('native/sandbox-agent/bin');

/** Chart and manifest of the cluster agent, shipped with the project. */
export const DEPLOY_FOLDER = folder('deploy');

function folder(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
