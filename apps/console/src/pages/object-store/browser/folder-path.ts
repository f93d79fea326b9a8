export interface PathStep {
  /** What is shown; an empty name between two slashes is a real folder of S3. */
  name: string;
  /** The prefix that the step stands for, ending in `/`. */
  prefix: string;
}

/** The folders on the way to a prefix: `a/b/` is `a/`, `a/b/`. What follows the last slash is no folder. */
export function stepsOf(prefix: string): PathStep[] {
  const steps: PathStep[] = [];
  let start = 0;
  for (let slash = prefix.indexOf('/'); slash !== -1; slash = prefix.indexOf('/', start)) {
    steps.push({ name: prefix.slice(start, slash) || '(unnamed)', prefix: prefix.slice(0, slash + 1) });
    start = slash + 1;
  }
  return steps;
}

/** The name of a key or of a common prefix inside its folder. */
export function nameIn(folder: string, keyOrPrefix: string): string {
  return keyOrPrefix.startsWith(folder) ? keyOrPrefix.slice(folder.length) : keyOrPrefix;
}

/** The folder that holds a key or a prefix. */
export function folderOf(keyOrPrefix: string): string {
  const text = keyOrPrefix.endsWith('/') ? keyOrPrefix.slice(0, -1) : keyOrPrefix;
  return text.slice(0, text.lastIndexOf('/') + 1);
}

/** Why a name cannot be a folder's, or undefined. */
export function folderNameFault(name: string): string | undefined {
  if (name === '') return undefined;
  if (name.startsWith('/') || name.includes('//')) return 'A name cannot start with a slash or contain two in a row.';
  if (name.split('/').some((part) => part === '.' || part === '..')) return 'A name cannot be “.” or “..”.';
  return undefined;
}
