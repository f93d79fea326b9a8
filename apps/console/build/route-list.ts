import type { Plugin } from 'vite';
import { entrancePaths, paths } from '../src/routes/paths.ts';

/**
 * Writes the list of the console's URLs next to its files, so that the platform can answer unknown pages with 404,
 * although the same document displays them.
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
