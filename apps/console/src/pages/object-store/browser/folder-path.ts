export interface PathStep {
  /** Display name; an empty name between two slashes is a valid S3 folder. */
  name: string;
  /** The step's prefix, ending in `/`. */
  prefix: string;
}

/** Returns the ancestor folders of a prefix: `a/b/` yields `a/`, `a/b/`. Text after the last slash is not a folder. */
export function stepsOf(prefix: string): PathStep[] {
  const steps: PathStep[] = [];
  let start = 0;
  for (let slash = prefix.indexOf('/'); slash !== -1; slash = prefix.indexOf('/', start)) {
    steps.push({ name: prefix.slice(start, slash) || '(unnamed)', prefix: prefix.slice(0, slash + 1) });
    start = slash + 1;
  }
  return steps;
}

/** Returns the name of a key or common prefix within its folder. */
export function nameIn(folder: string, keyOrPrefix: string): string {
  return keyOrPrefix.startsWith(folder) ? keyOrPrefix.slice(folder.length) : keyOrPrefix;
}

/** Returns the folder that contains a key or prefix. */
export function folderOf(keyOrPrefix: string): string {
  const text = keyOrPrefix.endsWith('/') ? keyOrPrefix.slice(0, -1) : keyOrPrefix;
  return text.slice(0, text.lastIndexOf('/') + 1);
}

/** Why a folder name is invalid; undefined if valid. */
export function folderNameFault(name: string): string | undefined {
  if (name === '') return undefined;
  if (name.startsWith('/') || name.includes('//')) return 'A name cannot start with a slash or contain two in a row.';
  if (name.split('/').some((part) => part === '.' || part === '..')) return 'A name cannot be “.” or “..”.';
  return undefined;
}
