import { fieldAt, isRecord } from '@svc/kube';
import type { MessageError } from '@svc/protocol';
import { messageErrorOf } from '../commands/error-of.ts';
import { agentErrors } from '../errors.ts';

/** How a process ended: by itself with a code, never begun, or unknown because the connection broke first. */
export type ExecEnd =
  | { kind: 'exited'; exitCode: number }
  | { kind: 'not_started'; error: MessageError }
  | { kind: 'unknown' };

/** Words of the container runtimes for a program that cannot be run: the caller's mistake, not the cluster's. */
const CANNOT_RUN =
  /executable file not found|no such file or directory|permission denied|exec format error|is a directory/i;

/** Reads the `Status` object of the last channel (v4 and v5 of the protocol). */
export function readExecEnd(text: string | null): ExecEnd {
  if (text === null) return { kind: 'unknown' };
  const status = parsed(text);
  if (status['status'] === 'Success') return { kind: 'exited', exitCode: 0 };
  const causes = fieldAt(status, 'details', 'causes');
  const cause = (Array.isArray(causes) ? causes : []).filter(isRecord).find(({ reason }) => reason === 'ExitCode');
  const exitCode = Number(cause?.['message']);
  if (status['reason'] === 'NonZeroExitCode' && Number.isInteger(exitCode)) return { kind: 'exited', exitCode };
  const message = typeof status['message'] === 'string' ? status['message'] : 'the container refused the command';
  const details = { field: 'command', reason: message.slice(0, 2000) };
  const error = CANNOT_RUN.test(message)
    ? agentErrors.INVALID_REQUEST({ details })
    : agentErrors.KUBERNETES_ERROR({ details });
  return { kind: 'not_started', error: messageErrorOf(error) };
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : { message: text };
  } catch {
    return { message: text };
  }
}
