import { UnexpectedAnswerError } from '../errors.ts';
import { isPassing, pause } from '../passing-failures.ts';
import { readServerEvents, type ServerEvent } from '../sandboxes/server-events.ts';
import type { CallOptions, QueryValue } from '../transport.ts';
import type { ClusterScope } from './cluster-scope.ts';

/**
 * A route that streams server-sent events, relative to `/v1/clusters`. `timeoutMs` limits the wait for the response
 * head at each connect.
 */
export interface FollowRequest extends CallOptions {
  path: string;
  query?: Readonly<Record<string, QueryValue>>;
  /** Yields only events after this id; null = from the route's start. */
  after: string | null;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/**
 * Streams events of a route, each exactly once, and reconnects if the connection is lost. Ends when the platform
 * signals the end.
 */
export async function* followServerEvents(
  scope: ClusterScope,
  { path, query, after, ...options }: FollowRequest,
): AsyncGenerator<ServerEvent, void> {
  let lastId = after;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    try {
      const headers = { accept: 'text/event-stream', ...(lastId === null ? {} : { 'last-event-id': lastId }) };
      const response = await scope.stream(path, { headers, ...(query === undefined ? {} : { query }), ...options });
      if (response.status === 204) return;
      if (response.body === null) throw new UnexpectedAnswerError('The answer has no events');
      for await (const event of readServerEvents(response.body)) {
        pauseMs = FIRST_PAUSE_MS;
        lastId = event.id;
        yield event;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!isPassing(error)) throw error;
    }
    await pause(pauseMs, options.signal);
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
  }
}
