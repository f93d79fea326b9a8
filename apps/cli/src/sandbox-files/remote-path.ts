/** `NAME:/path`, as in scp. */
export interface RemotePath {
  /** Of a sandbox or a volume. */
  name: string;
  /** Absolute, or relative to the home directory; in a volume, to its top folder. */
  path: string;
}

const LOCATION = /^([A-Za-z0-9][A-Za-z0-9_-]{0,63}):(.*)$/s;
/** `C:\file` and `C:/file` are Windows files, nothing remote with a one-letter name. */
const DRIVE = /^[A-Za-z]:[\\/]/;

/** Returns null for a local path. `./a:b` is always local. */
export function parseRemotePath(text: string): RemotePath | null {
  if (DRIVE.test(text) && process.platform === 'win32') return null;
  const [, name, path] = LOCATION.exec(text) ?? [];
  if (name === undefined || path === undefined) return null;
  return { name, path: path === '' ? '.' : path };
}
