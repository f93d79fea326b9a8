import type { Sandbox } from '../sandbox.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { TerminalRequest } from './terminal-request.ts';

/**
 * Records that a terminal was opened, and returns the function that records its end. Commands are not
 * recorded.
 */
export function recordTerminal(
  recorder: EventRecorder,
  sandbox: Sandbox,
  { argv, session: wish }: Pick<TerminalRequest, 'argv' | 'session'>,
  session: string | null,
): () => void {
  if (argv !== null) return () => undefined;
  const details = { session, read_only: wish?.readOnly ?? false };
  recorder.record(sandbox, { type: 'terminal_opened', details });
  return () => recorder.record(sandbox, { type: 'terminal_closed', details });
}
