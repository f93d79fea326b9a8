import type { Clock } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';
import type { EventLog, EventScope } from './event-log.ts';
import type { SandboxEvent } from './sandbox-event.ts';

/** Streams poll at this interval, because an event of the database may be missed. */
const POLL_MS = 1_000;
const HEARTBEAT_EVERY_MS = 15_000;
const PAGE = 100;

export interface EventFeedOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  /** Maximum number of open streams per workspace on this replica. */
  readonly maxStreams: number;
}

/** `gap`: events between the two numbers are no longer stored. */
export type FeedItem =
  | { readonly kind: 'event'; readonly event: SandboxEvent }
  | { readonly kind: 'gap'; readonly after: number; readonly oldest: number }
  | { readonly kind: 'heartbeat' };

/** Follows the event log. Unread events stay in the log, not in memory, so that slow readers cost no memory. */
export class EventFeed {
  readonly #options: EventFeedOptions;
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #open = new Map<string, number>();
  readonly #stopping = new AbortController();

  constructor(options: EventFeedOptions) {
    this.#options = options;
  }

  /** Wakes the streams of a workspace after a write. */
  notify(workspaceUuid: string): void {
    for (const wake of this.#waiting.get(workspaceUuid) ?? []) wake();
  }

  /** For writes that may have been missed. */
  notifyAll(): void {
    for (const workspaceUuid of this.#waiting.keys()) this.notify(workspaceUuid);
  }

  /** Takes one of the workspace's stream slots and returns a function that releases it. Throws TOO_MANY_STREAMS. */
  enter(workspaceUuid: string): () => void {
    const open = this.#open.get(workspaceUuid) ?? 0;
    const { maxStreams } = this.#options;
    if (open >= maxStreams) throw sandboxErrors.TOO_MANY_STREAMS({ details: { limit: maxStreams } });
    this.#open.set(workspaceUuid, open + 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const rest = (this.#open.get(workspaceUuid) ?? 1) - 1;
      if (rest === 0) this.#open.delete(workspaceUuid);
      else this.#open.set(workspaceUuid, rest);
    };
  }

  /**
   * Yields events after `start` until the signal aborts or, for a single sandbox, until it is deleted. Events are read
   * on demand.
   */
  async *follow(scope: EventScope, start: number, signal: AbortSignal): AsyncGenerator<FeedItem, void, undefined> {
    const { log, clock } = this.#options;
    const over = AbortSignal.any([signal, this.#stopping.signal]);
    let after = start;
    const oldest = await log.oldest(scope.workspaceUuid);
    if (oldest !== null && oldest > after + 1) yield { kind: 'gap', after, oldest };
    let spokenAtMs = clock.nowMs();
    while (!over.aborted) {
      const listener = this.#listen(scope.workspaceUuid);
      try {
        const events = await log.after(scope, after, PAGE);
        for (const event of events) {
          after = event.sequence;
          yield { kind: 'event', event };
          if (scope.sandboxId !== null && event.type === 'deleted') return;
        }
        if (events.length > 0) spokenAtMs = clock.nowMs();
        if (events.length === PAGE) continue;
        await listener.heard(over);
      } finally {
        listener.end();
      }
      if (!over.aborted && clock.nowMs() - spokenAtMs >= HEARTBEAT_EVERY_MS) {
        spokenAtMs = clock.nowMs();
        yield { kind: 'heartbeat' };
      }
    }
  }

  /** Ends every stream. */
  close(): void {
    this.#stopping.abort();
  }

  get streams(): number {
    let count = 0;
    for (const open of this.#open.values()) count += open;
    return count;
  }

  /** Subscribes immediately, so that no write between a read and the wait is missed. */
  #listen(workspaceUuid: string): { heard(over: AbortSignal): Promise<void>; end(): void } {
    const waiting = this.#waiting.get(workspaceUuid) ?? new Set();
    this.#waiting.set(workspaceUuid, waiting);
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.add(resolve);
    return {
      heard: async (over) => {
        if (over.aborted) return;
        const cancel = this.#options.clock.setTimer(resolve, POLL_MS);
        const stop = (): void => resolve();
        over.addEventListener('abort', stop, { once: true });
        await promise;
        over.removeEventListener('abort', stop);
        cancel();
      },
      end: () => {
        waiting.delete(resolve);
        if (waiting.size === 0 && this.#waiting.get(workspaceUuid) === waiting) this.#waiting.delete(workspaceUuid);
      },
    };
  }
}
