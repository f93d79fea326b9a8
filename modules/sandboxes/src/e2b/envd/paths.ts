import type { SandboxFiles } from '../../domain/files/file-service.ts';

/** The path that answers repeat: absolute and without dots. An empty one is the home directory. */
export function pathOf(files: SandboxFiles, given: string): string {
  return cleanPath(files.path(given === '' ? '.' : given));
}

/** Removes `.`, `..` and repeated slashes, as clients expect of the paths in answers. */
export function cleanPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
