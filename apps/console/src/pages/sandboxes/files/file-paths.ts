/** Joins `/a` and `b` to `/a/b`. */
export function joinPath(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`;
}

export function parentOf(path: string): string {
  const end = path.lastIndexOf('/');
  return end <= 0 ? '/' : path.slice(0, end);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export interface Step {
  name: string;
  path: string;
}

/** Returns the ancestor folders of a path, without the root. */
export function stepsOf(path: string): Step[] {
  const names = path.split('/').filter((name) => name !== '');
  return names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}` }));
}

/** Resolves typed paths: absolute, or relative to a folder. */
export function resolvePath(folder: string, typed: string): string {
  const names: string[] = [];
  for (const name of `${typed.startsWith('/') ? '' : folder}/${typed}`.split('/')) {
    if (name === '' || name === '.') continue;
    if (name === '..') names.pop();
    else names.push(name);
  }
  return `/${names.join('/')}`;
}

/** Why a file name is invalid; undefined if valid. */
export function fileNameFault(name: string): string | undefined {
  if (name === '') return undefined;
  if (name === '.' || name === '..') return 'This name is reserved.';
  if (name.includes('/')) return 'A name cannot contain a slash.';
  return new TextEncoder().encode(name).length > 255 ? 'A name can have at most 255 bytes.' : undefined;
}
