import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { preloadFonts } from './build/preload-fonts.ts';
import { emitRouteList } from './build/route-list.ts';
import { precompress } from './build/precompress.ts';

/** Browsers that have `light-dark()` and CSS nesting, so that neither is rewritten. */
const BROWSERS = ['chrome123', 'firefox125', 'safari17.5'];

export default defineConfig({
  plugins: [react(), preloadFonts(), emitRouteList(), precompress()],
  build: {
    target: BROWSERS,
    cssTarget: BROWSERS,
    // The content policy allows neither data: fonts nor inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1024,
  },
});
