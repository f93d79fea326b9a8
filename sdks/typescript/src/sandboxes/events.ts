import { ApiError, NetworkError, UnexpectedAnswerError } from '../errors.ts';
import type { CallOptions } from '../transport.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import { readServerEvents } from './server-events.ts';

/** Something that has happened to a sandbox. */
export interface SandboxEvent {
  id: number;
  sandbox_id: string;
  /** Such as `created`, `running`, `stopped`, `error`, `paused`, `resumed`, `deleted`, `oom_killed`. */
  type: string;
  at: string;
  details: Readonly<Record<string, unknown>>;
}

export interface EventOptions extends CallOptions {
  /** Only what happened after this one; absent: from now on. */
  after?: number | undefined;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/** Events as they happen, until the iteration is left or the signal says so. A lost connection goes on after the last one. */
export async function* followEvents(
  transport: SandboxTransport,
  path: string,
  { after, ...options }: EventOptions,
): AsyncGenerator<SandboxEvent, void> {
  let lastId = after === undefined ? '' : String(after);
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    try {
      const headers = { accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) };
      const { body } = await transport.stream('GET', path, { headers, ...options });
      if (body === null) throw new UnexpectedAnswerError('The answer has no events');
      for await (const { id, data } of readServerEvents(body)) {
        pauseMs = FIRST_PAUSE_MS;
        lastId = id === '' ? lastId : id;
        yield JSON.parse(data) as SandboxEvent; // the route's documented event
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!isPassing(error)) throw error;
    }
    await pause(pauseMs, options.signal);
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
  }
}

/** TypeError is what reading a body throws when its connection is lost (WHATWG Fetch, 5.3). */
function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429;
  return error instanceof NetworkError || error instanceof TypeError;
}

function pause(timeMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason instanceof Error ? signal.reason : new Error('Aborted'));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, timeMs);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
