import { CommandFailedError } from '../errors.ts';
import { fromBase64 } from '../sandboxes/base64.ts';
import type { CallOptions } from '../transport.ts';
import type { ClusterScope } from './cluster-scope.ts';
import type { ClusterCommand } from './cluster-types.ts';
import { followCommand, resultOfCommand } from './command-events.ts';

/** A command to run in a container. */
export interface ExecRequest {
  pod: string;
  namespace: string;
  /** Defaults to the pod's default or only container. */
  container?: string | undefined;
  command: readonly string[];
  /** When the agent gives up, in seconds; the process may keep running. Defaults to 60; 0 = no limit. */
  timeoutSeconds?: number | undefined;
}

/** Options of an exec. */
export interface ExecOptions extends CallOptions {
  /** Called with output as it arrives. The result then contains none. */
  onOutput?: ((stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>) | undefined;
}

/** The outcome of a command that ran, whatever its exit code. */
export interface ExecResult {
  exitCode: number;
  container: string;
  stdout: string;
  stderr: string;
  /** True if output beyond 1 MiB was dropped. */
  truncated: boolean;
}

/** Throws CommandFailedError if the command could not run or its outcome is unknown. */
export async function execInContainer(
  scope: ClusterScope,
  path: string,
  { timeoutSeconds, ...request }: ExecRequest,
  { onOutput, ...options }: ExecOptions,
): Promise<ExecResult> {
  const body = { ...request, timeout_seconds: timeoutSeconds, stream: onOutput !== undefined };
  const { id } = await scope.call<ClusterCommand>('POST', `${path}/exec`, { body, ...options });
  const pieces: Record<'stdout' | 'stderr', Uint8Array[]> = { stdout: [], stderr: [] };
  const take = async (stream: 'stdout' | 'stderr', bytes: Uint8Array): Promise<void> => {
    if (onOutput === undefined) pieces[stream].push(bytes);
    else await onOutput(stream, bytes);
  };
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  const events = followCommand<ClusterCommand>(scope, `${path}/commands/${encodeURIComponent(id)}/events`, signal);
  try {
    const command = await resultOfCommand(events, async (event) => {
      if (event.type === 'output') await take(event.stream, event.bytes);
    });
    return await finish(command, pieces, take);
  } catch (error) {
    // Cancel the command if the caller aborts.
    if (options.signal?.aborted === true) {
      await scope.call('DELETE', `${path}/commands/${encodeURIComponent(id)}`).catch(() => undefined);
    }
    throw error;
  }
}

async function finish(
  { status, error, result }: ClusterCommand,
  pieces: Record<'stdout' | 'stderr', Uint8Array[]>,
  take: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => Promise<void>,
): Promise<ExecResult> {
  const exitCode = result?.['exit_code'];
  if (status !== 'succeeded' || typeof exitCode !== 'number') {
    throw new CommandFailedError(status, error ?? { code: 'NO_RESULT', message: `The command is ${status}` });
  }
  // Short output arrives only in the result.
  for (const stream of ['stdout', 'stderr'] as const) {
    const short = result?.[stream];
    if (typeof short !== 'string' || short === '') continue;
    await take(stream, result?.['encoding'] === 'base64' ? fromBase64(short) : new TextEncoder().encode(short));
  }
  const container = typeof result?.['container'] === 'string' ? result['container'] : '';
  const truncated = result?.['truncated'] === true;
  return { exitCode, container, stdout: decodeText(pieces.stdout), stderr: decodeText(pieces.stderr), truncated };
}

function decodeText(pieces: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return `${pieces.map((bytes) => decoder.decode(bytes, { stream: true })).join('')}${decoder.decode()}`;
}
