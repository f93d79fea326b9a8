import { createParts } from './parts.ts';

/** One line per part; those of `--all` have external requirements. */
export function listParts(root: string): string {
  const lines = createParts(root).map((part) => {
    const files = part.files?.().length;
    if (files === 0) return null;
    const when = part.group === 'all' ? '--all' : '';
    const count = files === undefined ? '' : ` (${files} ${files === 1 ? 'file' : 'files'})`;
    return `${part.name.padEnd(12)} ${when.padEnd(6)} ${part.description}${count}\n`;
  });
  return lines.filter((line) => line !== null).join('');
}
