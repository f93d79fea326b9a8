import { EventWorker, type DatabaseEvents } from '@svc/sql';
import type { EventFeed } from '../domain/events/event-feed.ts';
import type { SandboxRepository } from '../domain/ports.ts';
import type { StatusWatch } from '../domain/status-watch.ts';
import { parseSandboxEventId, SANDBOX_CHANNEL } from '../store/channels.ts';

export interface ReplicaEventsOptions {
  events: DatabaseEvents;
  feed: Pick<EventFeed, 'notify' | 'notifyAll'>;
  watch: StatusWatch;
  repository: Pick<SandboxRepository, 'find'>;
  onError: (error: unknown) => void;
}

/**
 * Wakes event streams and waiting callers when a sandbox changes, at this or another replica. Returns a function that
 * stops that.
 */
export function followReplicas(options: ReplicaEventsOptions): () => Promise<void> {
  const { events, feed, watch, repository, onError } = options;
  const unsubscribe = events.subscribe(SANDBOX_CHANNEL, {
    onEvent: (id) => feed.notify(parseSandboxEventId(id).workspaceUuid),
    onMissed: () => feed.notifyAll(),
  });
  const announce = async (sandboxId: string): Promise<void> => {
    if (watch.isWatched(sandboxId)) watch.announce(sandboxId, await repository.find(sandboxId));
  };
  const worker = new EventWorker({
    events,
    channel: SANDBOX_CHANNEL,
    work: (id) => announce(parseSandboxEventId(id).sandboxId),
    workOnAll: async () => {
      for (const id of watch.watched()) await announce(id);
    },
    onError,
  });
  return async () => {
    unsubscribe();
    await worker.close();
  };
}
