import type { Plugin } from 'vite';

/** The two files that the first paint needs; other scripts and styles load theirs when a page uses them. */
const FIRST_PAINT = /^assets\/(inter|geist-mono)-latin-wght-normal-.*\.woff2$/;

/** Starts the download of the text fonts together with the style sheet, so that no text moves when they arrive. */
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
