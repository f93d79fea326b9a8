import { fileURLToPath } from 'node:url';

/** Chart and manifest of the cluster agent, shipped with the project. */
export const DEPLOY_FOLDER = folder('deploy');

function folder(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
