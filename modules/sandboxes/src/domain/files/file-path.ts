import { sandboxErrors } from '../../errors.ts';

const MAX_PATH_BYTES = 4096;

/**
 * Returns the path for the sandbox's kernel to resolve: absolute, with relative paths below the home directory. The
 * kernel follows `..` and links, inside the sandbox's own root.
 */
export function filePath(given: string, home: string): string {
  const path = given.startsWith('/') ? given : `${home.replace(/\/$/, '')}/${given}`;
  if (given === '') throw invalid('it is empty');
  if (path.includes('\0')) throw invalid('it contains a NUL byte');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw invalid(`it has more than ${MAX_PATH_BYTES} bytes`);
  return path;
}

/** Validates a client's name for a file whose folder another parameter gives. */
export function fileName(given: string): string {
  // Old browsers sent full local paths.
  const name = given.slice(Math.max(given.lastIndexOf('/'), given.lastIndexOf('\\')) + 1);
  if (name === '' || name === '.' || name === '..' || name.includes('\0')) throw invalid('the file has no name');
  return name;
}

export function joinPath(folder: string, name: string): string {
  return folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`;
}

/** The raw value of a query parameter, strictly decoded: an escape that is not UTF-8 is rejected. */
export function queryText(url: string, name: string): string | undefined {
  const mark = url.indexOf('?');
  if (mark === -1) return undefined;
  for (const part of url.slice(mark + 1).split('&')) {
    const equals = part.indexOf('=');
    if ((equals === -1 ? part : part.slice(0, equals)) !== name) continue;
    try {
      return decodeURIComponent((equals === -1 ? '' : part.slice(equals + 1)).replaceAll('+', ' '));
    } catch {
      throw invalid('it is not UTF-8');
    }
  }
  return undefined;
}

function invalid(reason: string): Error {
  return sandboxErrors.INVALID_PATH({ details: { field: 'path', reason } });
}
