import { NotFoundError, UnexpectedAnswerError } from '../errors.ts';
import { pageParameters, type PageQuery } from '../pages.ts';
import { isPassing, pause } from '../passing-failures.ts';
import type { CallOptions } from '../transport.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import type { SandboxEvent } from './sandbox-types.ts';
import { readServerEvents } from './server-events.ts';

/** Options for following events. */
export interface EventOptions extends CallOptions {
  /** Yields only events after this id; from now on if absent. */
  after?: number | undefined;
  /** Called if events are missing because the platform no longer keeps them. */
  onGap?: (() => void) | undefined;
}

/** One page of events. */
export interface EventPage {
  /** Newest first. */
  items: SandboxEvent[];
  nextCursor: string | null;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/** Returns one page of stored events. */
export async function pageOfEvents(
  transport: SandboxTransport,
  path: string,
  page: PageQuery,
  options: CallOptions,
): Promise<EventPage> {
  const query = { format: 'json', ...pageParameters(page) };
  const { events, next_cursor: nextCursor } = await transport.call<{
    events: SandboxEvent[];
    next_cursor: string | null;
  }>('GET', path, { query, ...options });
  return { items: events, nextCursor };
}

/**
 * Streams events until the iteration ends, the signal aborts or the followed sandbox is deleted. Resumes after the last
 * event if the connection is lost.
 */
export async function* followEvents(
  transport: SandboxTransport,
  path: string,
  { after, onGap, ...options }: EventOptions,
): AsyncGenerator<SandboxEvent, void> {
  // Start after a known event, so that a connection lost before the first event misses nothing.
  const { items } = after === undefined ? await pageOfEvents(transport, path, { pageSize: 1 }, options) : { items: [] };
  let lastId = after ?? items[0]?.id ?? 0;
  let pauseMs = FIRST_PAUSE_MS;
  let wasOpen = false;
  for (;;) {
    try {
      const headers = { accept: 'text/event-stream', 'last-event-id': String(lastId) };
      const { body } = await transport.stream('GET', path, { headers, ...options });
      if (body === null) throw new UnexpectedAnswerError('The answer has no events');
      wasOpen = true;
      for await (const { event, data } of readServerEvents(body)) {
        pauseMs = FIRST_PAUSE_MS;
        if (event === 'gap') {
          onGap?.();
          continue;
        }
        const parsed = JSON.parse(data) as SandboxEvent; // the route's documented event
        lastId = parsed.id;
        yield parsed;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (wasOpen && error instanceof NotFoundError) return;
      if (!isPassing(error)) throw error;
    }
    await pause(pauseMs, options.signal);
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
  }
}
