import { CommandFailedError, NetworkError, UnexpectedAnswerError } from '../errors.ts';
import { isPassing, pause } from '../passing-failures.ts';
import { readServerEvents } from '../sandboxes/server-events.ts';
import type { CallOptions, QueryValue } from '../transport.ts';
import type { ClusterScope } from './cluster-scope.ts';

/** The container and the part of its log to read. */
export interface LogRequest {
  pod: string;
  namespace: string;
  /** Defaults to the pod's default or only container. */
  container?: string | undefined;
  /** Number of lines from the end. Defaults to 100, at most 10,000. */
  tailLines?: number | undefined;
  /** Keeps streaming new lines, across rotated files and restarted containers. */
  follow?: boolean | undefined;
  sinceSeconds?: number | undefined;
  /** Reads the log of the container before its last restart. */
  previous?: boolean | undefined;
  /** Prefixes each line with its time. */
  timestamps?: boolean | undefined;
}

/** A piece of a log. */
export interface LogPiece {
  /** Whole lines or parts of lines. */
  text: string;
  /** Bytes dropped just before this piece because the reader or the platform was too slow. */
  droppedBytes: number;
  droppedLines: number;
}

/** Options for reading a log. */
export interface LogOptions extends CallOptions {
  /** Consecutive attempts to resume a followed log after a lost connection. Defaults to 12, about 75 s. */
  maxReconnects?: number | undefined;
  /** Called before each such attempt. */
  onReconnect?: ((cause: unknown) => void) | undefined;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
const MAX_RECONNECTS = 12;
/** A connection that lasted this long counts as working, even without output. */
const LASTING_MS = 60_000;

/**
 * Ends with the log or with the iteration. Before the first line it throws like any call, afterwards
 * CommandFailedError. A followed log resumes after the last received line if the connection is lost or the platform
 * restarts.
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
        if (event === 'end') return assertSucceeded(parsed);
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

/** The position of one reader in a log, across connections. */
class LogReader {
  readonly #request: LogRequest;
  readonly #openedAtMs = performance.now();
  #begun = false;
  #anyText = false;
  #position: string | undefined;

  constructor(request: LogRequest) {
    this.#request = request;
  }

  /** True once a response arrived: later failures are worth a retry. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  /** Without a known position, only a reader that has received nothing can resume. */
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
    // No earlier lines were requested and none arrived, so read everything written since the first request.
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

function assertSucceeded({ status, error }: Record<string, unknown>): void {
  if (status === 'succeeded' || status === 'cancelled') return;
  // the contract's error, checked below
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  throw new CommandFailedError(String(status), {
    code: typeof code === 'string' ? code : 'INTERNAL',
    message: typeof message === 'string' ? message : 'The log could not be read to its end',
  });
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
