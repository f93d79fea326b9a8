/** One line that is typed at a prompt, and what stands below it. */
export interface TypedCommand {
  command: string;
  output: string;
}

const BLOCK = /^```console\n(.*?)^```$/gms;

/** What a page in Markdown types: lines after `$ ` in its blocks of `console`. */
export function readTranscript(page: string): TypedCommand[] {
  const typed: TypedCommand[] = [];
  for (const [, block = ''] of page.matchAll(BLOCK)) {
    for (const line of block.split('\n').slice(0, -1)) {
      if (line.startsWith('$ ')) typed.push({ command: line.slice(2), output: '' });
      else {
        const last = typed.at(-1);
        if (last !== undefined) last.output += `${line}\n`;
      }
    }
  }
  return typed;
}

/** What is different each time is written `…`; spaces are those of columns. */
export function outputPattern(output: string): RegExp {
  const escaped = output.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('…', '.*').replaceAll(/ +/g, ' +')}$`);
}
