import { CommandFailedError, NetworkError, UnexpectedAnswerError } from '../errors.ts';
import { isPassing, pause } from '../passing-failures.ts';
import { readServerEvents } from '../sandboxes/server-events.ts';
import type { CallOptions, QueryValue } from '../transport.ts';
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

export interface LogOptions extends CallOptions {
  /** Attempts in a row to go on with a followed log whose connection was lost; 12 by default, about 75 s. */
  maxReconnects?: number | undefined;
  /** Before each such attempt. */
  onReconnect?: ((cause: unknown) => void) | undefined;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
const MAX_RECONNECTS = 12;
/** A connection that held so long was one, also when its container had nothing to say. */
const LASTING_MS = 60_000;

/**
 * Ends with the log, or with the iteration. Throws as every call does before the first line, later a CommandFailedError. A
 * followed log whose connection is lost, or whose platform restarts, goes on behind the last line that arrived.
 */
export async function* readLogs(
  scope: ClusterScope,
  path: string,
  request: LogRequest,
  { maxReconnects = MAX_RECONNECTS, onReconnect, ...options }: LogOptions,
): AsyncGenerator<LogPiece, void> {
  const reader = new LogReader(request);
  for (let attempt = 0; ; attempt += 1) {
    let cause: unknown;
    const openedAtMs = performance.now();
    try {
      const headers = { accept: 'text/event-stream' };
      const { body } = await scope.stream(`${path}/logs`, { headers, query: reader.query(), ...options });
      reader.begin();
      if (body === null) throw new UnexpectedAnswerError('The answer has no log');
      for await (const { event, data } of readServerEvents(body)) {
        const parsed = JSON.parse(data) as Record<string, unknown>; // each event of this route is an object
        if (event === 'end') return endOf(parsed);
        const piece = reader.read(parsed);
        if (piece.text !== '') attempt = 0;
        yield piece;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!isPassing(error) || !reader.hasBegun) throw error;
      cause = error;
    }
    if (performance.now() - openedAtMs > LASTING_MS) attempt = 0;
    if (!reader.canGoOn || attempt >= maxReconnects) throw new NetworkError('The connection was lost', { cause });
    onReconnect?.(cause);
    await pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt), options.signal);
  }
}

/** Where one reader stands in one log, over as many connections as it takes. */
class LogReader {
  readonly #request: LogRequest;
  readonly #openedAtMs = performance.now();
  #begun = false;
  #anyText = false;
  #position: string | undefined;

  constructor(request: LogRequest) {
    this.#request = request;
  }

  /** An answer came: what fails from now on is worth another try. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  /** Without a place behind what was read, only a reader of nothing can begin again. */
  get canGoOn(): boolean {
    const { follow, previous } = this.#request;
    return follow === true && previous !== true && (this.#position !== undefined || !this.#anyText);
  }

  begin(): void {
    this.#begun = true;
  }

  query(): Record<string, QueryValue> {
    const { pod, namespace, container, tailLines, follow, sinceSeconds, previous, timestamps } = this.#request;
    const same = { pod, namespace, container, follow, previous, timestamps };
    if (this.#position !== undefined) return { ...same, resume_after: this.#position };
    // Nothing of before was wanted and nothing came: what was written since the first request is what is missing.
    if (this.#begun && tailLines === 0) return { ...same, since_seconds: this.#secondsSinceOpened() };
    return { ...same, tail_lines: tailLines, since_seconds: sinceSeconds };
  }

  read(data: Record<string, unknown>): LogPiece {
    const text = String(data['text']);
    if (text !== '') this.#anyText = true;
    if (typeof data['position'] === 'string') this.#position = data['position'];
    return { text, droppedBytes: count(data['dropped_bytes']), droppedLines: count(data['dropped_lines']) };
  }

  #secondsSinceOpened(): number {
    return Math.max(1, Math.ceil((performance.now() - this.#openedAtMs) / 1000));
  }
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
