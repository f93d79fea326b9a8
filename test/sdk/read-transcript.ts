/** A command at a prompt, with its output. */
export interface TypedCommand {
  command: string;
  output: string;
}

const BLOCK = /^```console\n(.*?)^```$/gms;

/** Returns the commands of a Markdown page: lines after `$ ` in its `console` blocks. */
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

/** `…` matches variable text; spaces match column padding. */
export function outputPattern(output: string): RegExp {
  const escaped = output.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('…', '.*').replaceAll(/ +/g, ' +')}$`);
}
