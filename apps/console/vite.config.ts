import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { preloadFonts } from './build/preload-fonts.ts';
import { emitRouteList } from './build/route-list.ts';
import { precompress } from './build/precompress.ts';

/** Browsers with `light-dark()` and CSS nesting, so that neither is rewritten. */
const BROWSERS = ['chrome123', 'firefox125', 'safari17.5'];

/** Shared by the entrance and the console. */
const BASE =
  /sdks\/typescript\/src\/(transport|errors|error-body|read-body|accounts|pages)\.ts|vite\/preload-helper|apps\/console\/src\/((main|show-sign-in)\.ts|routes\/paths\.ts|session\/(last-workspace|safe-next|sign-in-path)\.ts|ui\/(class-names|describe-error)\.ts|ui\/(button|field|states)\.module\.css)/;

/** Parts of the console on nearly every page that need no further libraries. */
const FRAME =
  /apps\/console\/src\/(ui\/(badge|button|copy-field|form-error|lazy-parts|monogram|page|plots|states|tab-links|table|time|toast)\.tsx|session\/(theme|use-session)\.ts|api\/(all-pages|queries|query-keys|svc-context)\.ts|routes\/guards\.ts|shell\/[a-z-]*\.module\.css)/;

export default defineConfig({
  plugins: [react(), preloadFonts(), emitRouteList(), precompress()],
  build: {
    target: BROWSERS,
    cssTarget: BROWSERS,
    // The content security policy allows neither data: fonts nor inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1024,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // One script for what every console page needs, instead of many small ones. The entrance uses none of it.
            {
              name: 'libraries',
              test: /node_modules\/(react|react-dom|scheduler|use-sync-external-store|@tanstack)\//,
            },
            { name: 'frame', test: FRAME },
            { name: 'base', test: BASE, priority: 1 },
          ],
        },
      },
    },
  },
});
