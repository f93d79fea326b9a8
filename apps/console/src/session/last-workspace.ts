const STORAGE_KEY = 'svc.workspace';

/** The workspace that was looked at last: where the console opens, and what the shell shows on pages without one. */
export function readLastWorkspace(): string | null {
  try {
    return localStorage.getItem(STORAGE_KEY);
  } catch {
    return null; // storage is refused in some private windows
  }
}

export function rememberWorkspace(uuid: string): void {
  try {
    localStorage.setItem(STORAGE_KEY, uuid);
  } catch {
    // Then the console opens with the default workspace.
  }
}
