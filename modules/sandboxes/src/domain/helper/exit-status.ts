import type { Outcome } from './agent-stream.ts';

/** How a process ended, as a shell would tell it. */
export interface ExitStatus {
  /** 0 to 255; 128 + number when a signal ended it; 126 or 127 when it could not be run. */
  readonly exitCode: number;
  readonly signal: string | null;
  /** Set when the command could not be run at all. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** What the helper says is checked: it may say anything. */
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
