export interface TerminalSearch {
  /** The current session. */
  session?: string;
}

export function parseTerminalSearch({ session }: Record<string, unknown>): TerminalSearch {
  return typeof session === 'string' && session !== '' ? { session } : {};
}
