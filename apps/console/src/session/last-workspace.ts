const STORAGE_KEY = 'svc.workspace';

/** The workspace viewed last: opened by default, and shown on pages without one. */
export function readLastWorkspace(): string | null {
  try {
    return localStorage.getItem(STORAGE_KEY);
  } catch {
    return null; // some private windows block storage
  }
}

export function rememberWorkspace(uuid: string): void {
  try {
    localStorage.setItem(STORAGE_KEY, uuid);
  } catch {
    // Then the console opens with the default workspace.
  }
}
