import { NotFoundError, UnexpectedAnswerError } from '../errors.ts';
import { pageParameters, type PageQuery } from '../pages.ts';
import { isPassing, pause } from '../passing-failures.ts';
import type { CallOptions } from '../transport.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import type { SandboxEvent } from './sandbox-types.ts';
import { readServerEvents } from './server-events.ts';

export interface EventOptions extends CallOptions {
  /** Only what happened after this one; absent: from now on. */
  after?: number | undefined;
  /** Called when events are missing, since the platform keeps them no longer. */
  onGap?: (() => void) | undefined;
}

export interface EventPage {
  /** Newest first. */
  items: SandboxEvent[];
  nextCursor: string | null;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/** A page of what is kept. */
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
 * Events as they happen, until the iteration is left or the signal says so, or the one sandbox that they are of is deleted.
 * A lost connection goes on after the last one.
 */
export async function* followEvents(
  transport: SandboxTransport,
  path: string,
  { after, onGap, ...options }: EventOptions,
): AsyncGenerator<SandboxEvent, void> {
  // From a known event on, so that a connection that is lost before the first one misses nothing.
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
