import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface BuildInfo {
  version: string;
  gitCommit: string;
  /** ISO 8601. */
  buildDate: string;
}

/**
 * Build info of a source tree: the package's version, the checked-out commit and the modification time of the entry
 * file.
 */
export function readBuildInfo(folder: string): BuildInfo {
  const root = join(folder, '..', '..', '..');
  return {
    version: parseText(readJson(join(folder, '..', 'package.json')) ?? {}, 'version', '0.0.0'),
    gitCommit: checkedOutCommit(join(root, '.git')),
    buildDate:
      statSync(join(folder, 'main.ts'), { throwIfNoEntry: false })?.mtime.toISOString() ?? new Date(0).toISOString(),
  };
}

function checkedOutCommit(gitFolder: string): string {
  const head = readText(join(gitFolder, 'HEAD'))?.trim() ?? '';
  if (!head.startsWith('ref: ')) return head === '' ? 'unknown' : head;
  const reference = head.slice('ref: '.length);
  const loose = readText(join(gitFolder, reference))?.trim();
  if (loose !== undefined) return loose;
  const packed = readText(join(gitFolder, 'packed-refs')) ?? '';
  return (
    packed
      .split('\n')
      .find((line) => line.endsWith(` ${reference}`))
      ?.split(' ')[0] ?? 'unknown'
  );
}

function readJson(path: string): Record<string, unknown> | null {
  const text = readText(path);
  return text === undefined ? null : (JSON.parse(text) as Record<string, unknown>); // our own package.json
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // the caller tries another place
  }
}

function parseText(fields: Record<string, unknown>, name: string, otherwise: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : otherwise;
}
