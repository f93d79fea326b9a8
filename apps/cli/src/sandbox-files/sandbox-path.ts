/** `NAME:/path`, as in scp. */
export interface SandboxPath {
  sandbox: string;
  /** Absolute, or below the home folder. */
  path: string;
}

const LOCATION = /^([A-Za-z0-9][A-Za-z0-9_-]{0,63}):(.*)$/s;
/** `C:\file` and `C:/file` are files of Windows; nobody calls a sandbox by one letter and means that. */
const DRIVE = /^[A-Za-z]:[\\/]/;

/** Null for what is on this machine. `./a:b` is a file here, whatever stands in it. */
export function parseSandboxPath(text: string): SandboxPath | null {
  if (DRIVE.test(text) && process.platform === 'win32') return null;
  const [, sandbox, path] = LOCATION.exec(text) ?? [];
  if (sandbox === undefined || path === undefined) return null;
  return { sandbox, path: path === '' ? '.' : path };
}
