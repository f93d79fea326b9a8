import type { Sandbox } from '../sandbox.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { TerminalRequest } from './terminal-request.ts';

/** Tells that a terminal was opened; the answer tells that it is over. Commands over the same WebSocket are no news. */
export function tellTerminal(
  recorder: EventRecorder,
  sandbox: Sandbox,
  { argv, session: wish }: TerminalRequest,
  session: string | null,
): () => void {
  if (argv !== null) return () => undefined;
  const details = { session, read_only: wish?.readOnly ?? false };
  recorder.record(sandbox, { type: 'terminal_opened', details });
  return () => recorder.record(sandbox, { type: 'terminal_closed', details });
}
