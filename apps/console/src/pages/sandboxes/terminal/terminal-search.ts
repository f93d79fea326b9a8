export interface TerminalSearch {
  /** The shell that is looked at. */
  session?: string;
}

export function parseTerminalSearch({ session }: Record<string, unknown>): TerminalSearch {
  return typeof session === 'string' && session !== '' ? { session } : {};
}
