import type { TerminalSession } from '@svc/sdk';
import { describeError } from '../../../ui/describe-error.ts';
import type { TerminalState } from './use-terminal.ts';

export interface Ending {
  words: string;
  /** What can be done. */
  remedy: 'new' | 'again' | 'takeBack' | null;
}

/** Why nothing more comes; null while something may. */
export function endingOf(state: TerminalState): Ending | null {
  if (state.kind === 'failed') return { words: describeError(state.error), remedy: 'again' };
  if (state.kind !== 'ended') return null;
  const { exit, code } = state.end;
  if (exit !== null) {
    const { exitCode, signal } = exit;
    const words =
      signal === null ? `The shell ended with exit code ${exitCode}.` : `The shell was terminated by ${signal}.`;
    return { words, remedy: 'new' };
  }
  switch (code) {
    case 4001:
      return { words: 'Another client took over this terminal.', remedy: 'takeBack' };
    case 4003:
      return { words: 'You no longer have access to this terminal.', remedy: null };
    case 4004:
      return { words: 'The sandbox is no longer running.', remedy: null };
    case 4005:
      return { words: 'The sandbox was deleted.', remedy: null };
    case 4006:
      return { words: 'This session expired because it was unused.', remedy: 'new' };
    default:
      return { words: 'The connection was lost.', remedy: 'again' };
  }
}

/** The names that the platform generates for sessions. */
const MADE_NAME = /^s[0-9a-f]{8,}$/;

/** Its given name, otherwise its shell and process, such as `bash 42`. */
export function sessionLabel({ session, shell, pid }: Pick<TerminalSession, 'session' | 'shell' | 'pid'>): string {
  if (!MADE_NAME.test(session)) return session;
  return `${shell.slice(shell.lastIndexOf('/') + 1)} ${pid}`;
}
