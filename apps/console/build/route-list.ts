import type { Plugin } from 'vite';
import { entrancePaths, paths } from '../src/routes/paths.ts';

/**
 * Writes the list of the console's URLs beside its files. The platform reads it to answer a page that does not exist
 * with a true 404, though the same document shows it.
 */
export function emitRouteList(): Plugin {
  return {
    name: 'svc:route-list',
    apply: 'build',
    generateBundle() {
      const source = JSON.stringify({ routes: [...Object.values(entrancePaths), ...Object.values(paths)] });
      this.emitFile({ type: 'asset', fileName: 'console.json', source });
    },
  };
}
