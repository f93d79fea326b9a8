import { readExecEnd } from '@svc/kube/values';
import type { MessageError } from '@svc/protocol';
import { toMessageError } from '../commands/error-of.ts';
import { agentErrors } from '../errors.ts';

/** How a process ended: exited with a code, never started, or unknown because the connection broke first. */
export type ExecEnd =
  | { kind: 'exited'; exitCode: number }
  | { kind: 'not_started'; error: MessageError }
  | { kind: 'unknown' };

/** Container runtime messages for a program that cannot be run: the caller's mistake, not the cluster's. */
const CANNOT_RUN =
  /executable file not found|no such file or directory|permission denied|exec format error|is a directory/i;

/** Interprets the API server's final status; null if there was none. */
export function parseExecEnd(status: string | null): ExecEnd {
  if (status === null) return { kind: 'unknown' };
  const end = readExecEnd(status);
  if ('exitCode' in end) return { kind: 'exited', exitCode: end.exitCode };
  const details = { field: 'command', reason: end.reason };
  const error = CANNOT_RUN.test(end.reason)
    ? agentErrors.INVALID_REQUEST({ details })
    : agentErrors.KUBERNETES_ERROR({ details });
  return { kind: 'not_started', error: toMessageError(error) };
}
