import type { Outcome } from './helper-stream.ts';

/** How a process ended, in the terms of a shell. */
export interface ExitStatus {
  /** 0 to 255: 128 + the signal number if a signal ended it; 126 or 127 if it could not be run. */
  readonly exitCode: number;
  readonly signal: string | null;
  /** Set if the command could not be run at all. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Does not trust the helper: every field is checked. */
export function exitStatusOf(outcome: Outcome): ExitStatus {
  if (!outcome.ok) {
    const exitCode = outcome.code === 'COMMAND_NOT_EXECUTABLE' ? 126 : 127;
    return { exitCode, signal: null, error: { code: outcome.code, message: outcome.message } };
  }
  const { exit_code: exitCode, signal } = outcome.result;
  return {
    exitCode: typeof exitCode === 'number' && Number.isInteger(exitCode) ? exitCode & 0xff : 255,
    signal: typeof signal === 'string' ? signal.slice(0, 16) : null,
    error: null,
  };
}
