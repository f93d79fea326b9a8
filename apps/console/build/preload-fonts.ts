import type { Plugin } from 'vite';

/** The two fonts of the first paint; other scripts and styles load theirs on demand. */
const FIRST_PAINT = /^assets\/(inter|geist-mono)-latin-wght-normal-.*\.woff2$/;

/** Preloads the text fonts together with the style sheet, to prevent a layout shift. */
export function preloadFonts(): Plugin {
  return {
    name: 'svc:preload-fonts',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle }) =>
        Object.keys(bundle ?? {})
          .filter((fileName) => FIRST_PAINT.test(fileName))
          .map((fileName) => ({
            tag: 'link',
            attrs: { rel: 'preload', href: `/${fileName}`, as: 'font', type: 'font/woff2', crossorigin: true },
            injectTo: 'head' as const,
          })),
    },
  };
}
