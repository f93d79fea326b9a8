import { fieldAt, recordsAt, textAt } from './fields.ts';

/** How a process in a container ended: by itself with a code, or it never began. */
export type ExecEnd = { exitCode: number } | { reason: string };

/** Reads the `Status` object of the last channel of `channel.k8s.io` (v4 and v5). */
export function readExecEnd(text: string): ExecEnd {
  const status = parsed(text);
  if (fieldAt(status, 'status') === 'Success') return { exitCode: 0 };
  const cause = recordsAt(status, 'details', 'causes').find(({ reason }) => reason === 'ExitCode');
  const exitCode = Number(cause?.['message']);
  if (fieldAt(status, 'reason') === 'NonZeroExitCode' && Number.isInteger(exitCode)) return { exitCode };
  return { reason: textAt(status, 'message') ?? 'the container refused the command' };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
