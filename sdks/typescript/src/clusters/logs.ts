import { CommandFailedError, NetworkError, UnexpectedAnswerError } from '../errors.ts';
import { isPassing } from '../passing-failures.ts';
import { readServerEvents } from '../sandboxes/server-events.ts';
import type { CallOptions } from '../transport.ts';
import type { ClusterScope } from './cluster-scope.ts';

export interface LogRequest {
  pod: string;
  namespace: string;
  /** Absent: the default container of the pod, or its only one. */
  container?: string | undefined;
  /** Of the last lines so many; 100 by default, at most 10,000. */
  tailLines?: number | undefined;
  /** Go on with what comes, over rotated files and restarted containers. */
  follow?: boolean | undefined;
  sinceSeconds?: number | undefined;
  /** Of the container that ran before the last restart. */
  previous?: boolean | undefined;
  /** Each line with its time before it. */
  timestamps?: boolean | undefined;
}

export interface LogPiece {
  /** Of whole lines or parts of them. */
  text: string;
  /** What was lost just before it, since the reader or the platform was too slow. */
  droppedBytes: number;
  droppedLines: number;
}

/** Ends with the log, or with the iteration. Throws as every call does before the first line, later a CommandFailedError. */
export async function* readLogs(
  scope: ClusterScope,
  path: string,
  request: LogRequest,
  options: CallOptions,
): AsyncGenerator<LogPiece, void> {
  const { pod, namespace, container, tailLines, follow, sinceSeconds, previous, timestamps } = request;
  const { body } = await scope.stream(`${path}/logs`, {
    headers: { accept: 'text/event-stream' },
    query: {
      pod,
      namespace,
      container,
      tail_lines: tailLines,
      follow,
      since_seconds: sinceSeconds,
      previous,
      timestamps,
    },
    ...options,
  });
  if (body === null) throw new UnexpectedAnswerError('The answer has no log');
  try {
    for await (const { event, data } of readServerEvents(body)) {
      const parsed = JSON.parse(data) as Record<string, unknown>; // each event of this route is an object
      if (event === 'end') return endOf(parsed);
      yield {
        text: String(parsed['text']),
        droppedBytes: count(parsed['dropped_bytes']),
        droppedLines: count(parsed['dropped_lines']),
      };
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    if (isPassing(error)) throw new NetworkError('The connection was lost', { cause: error });
    throw error;
  }
  throw new NetworkError('The connection was lost');
}

function endOf({ status, error }: Record<string, unknown>): void {
  if (status === 'succeeded' || status === 'cancelled') return;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }; // the contract's error, looked at
  throw new CommandFailedError(String(status), {
    code: typeof code === 'string' ? code : 'INTERNAL',
    message: typeof message === 'string' ? message : 'The log could not be read to its end',
  });
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
