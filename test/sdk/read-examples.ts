/** The examples of a page in Markdown, as one module, and what it says that they print. */
export interface Examples {
  source: string;
  printed: string[];
}

const BLOCK = /^```ts\n(.*?)^```$/gms;
const PRINTS = /\/\/ → (.*)$/gm;

export function readExamples(page: string): Examples {
  const source = [...page.matchAll(BLOCK)].map(([, code = '']) => code).join('\n');
  return { source, printed: [...source.matchAll(PRINTS)].map(([, text = '']) => text) };
}
