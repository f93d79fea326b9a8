export interface FilesSearch {
  /** The folder that is looked at; absolute. */
  path?: string;
  /** The file that is open. */
  file?: string;
}

export function parseFilesSearch({ path, file }: Record<string, unknown>): FilesSearch {
  return { ...(isAbsolute(path) && { path }), ...(isAbsolute(file) && { file }) };
}

function isAbsolute(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('/');
}
