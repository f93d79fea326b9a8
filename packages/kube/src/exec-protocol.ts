import { isRecord, recordsAt, textAt } from './fields.ts';

/** Subprotocols of `pods/exec`, newest first. Version 5 can close stdin; API servers before 1.30 speak version 4. */
export const EXEC_PROTOCOLS: readonly string[] = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** First byte of every message. `close` names the channel that ends. */
export const EXEC_CHANNELS = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, close: 255 } as const;

/** Whether the subprotocol can close stdin. */
export function canEndInput(protocol: string): boolean {
  return protocol === 'v5.channel.k8s.io';
}

/** Encodes a message for the `resize` channel. */
export function encodeResize(rows: number, cols: number): string {
  return JSON.stringify({ Width: cols, Height: rows });
}

/** How a process in a container ended: with an exit code, or it failed to start. */
export type ExecEnd = { exitCode: number } | { reason: string };

/** Parses the `Status` object of the `status` channel, identical in both versions. */
export function readExecEnd(text: string): ExecEnd {
  const status = parsed(text);
  if (status['status'] === 'Success') return { exitCode: 0 };
  const cause = recordsAt(status, 'details', 'causes').find(({ reason }) => reason === 'ExitCode');
  const exitCode = Number(cause?.['message']);
  if (status['reason'] === 'NonZeroExitCode' && Number.isInteger(exitCode)) return { exitCode };
  return { reason: textAt(status, 'message') ?? 'the container refused the command' };
}

/** A server that fails midway may send plain text. */
function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : { message: text };
  } catch {
    return { message: text };
  }
}
