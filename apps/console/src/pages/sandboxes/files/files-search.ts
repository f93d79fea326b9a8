export interface FilesSearch {
  /** Absolute path of the current folder. */
  path?: string;
  /** The open file. */
  file?: string;
}

export function parseFilesSearch({ path, file }: Record<string, unknown>): FilesSearch {
  return { ...(isAbsolute(path) && { path }), ...(isAbsolute(file) && { file }) };
}

function isAbsolute(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('/');
}
