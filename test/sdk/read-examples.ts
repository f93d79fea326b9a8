/** The examples of a Markdown page as one module, with their expected output. */
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
