import { EventWorker, type DatabaseEvents, type EventWorkerOptions } from '@svc/sql';
import { commandKey, eventsKey, type Changes } from '../domain/changes.ts';
import type { CommandDispatcher } from '../domain/command-dispatcher.ts';
import { CLUSTER_CHANNELS } from '../store/channels.ts';
import type { AgentAccess } from './agent-access.ts';

export interface ReplicaEventsOptions {
  events: DatabaseEvents;
  changes: Changes;
  dispatcher: CommandDispatcher;
  agentAccess: AgentAccess;
  onError: (error: unknown, context: Record<string, unknown>) => void;
}

/** What this replica does when a row of clusters changes, at this or another replica. Ends with `close`. */
export class ReplicaEvents {
  readonly #options: ReplicaEventsOptions;
  readonly #workers: EventWorker[] = [];
  #unsubscribe: (() => void)[] = [];

  constructor(options: ReplicaEventsOptions) {
    this.#options = options;
  }

  start(): void {
    const { events, changes, dispatcher, agentAccess } = this.#options;
    const wakes = (channel: string, key: (id: string) => string): (() => void) =>
      events.subscribe(channel, {
        onEvent: (id) => changes.notify(key(id)),
        onMissed: () => changes.notifyAll(),
      });
    this.#unsubscribe = [wakes(CLUSTER_CHANNELS.command, commandKey), wakes(CLUSTER_CHANNELS.events, eventsKey)];
    this.#work(CLUSTER_CHANNELS.command, {
      work: (id) => dispatcher.loseReader(id),
      workOnAll: () => dispatcher.loseReaders(),
    });
    this.#work(CLUSTER_CHANNELS.queue, {
      work: async (clusterId) => dispatcher.sendQueuedTo(clusterId),
      workOnAll: () => dispatcher.sendQueued(),
    });
    this.#work(CLUSTER_CHANNELS.cancel, {
      work: (id) => {
        const [clusterId = '', commandId = ''] = id.split('/');
        return dispatcher.sendCancel(clusterId, commandId);
      },
      workOnAll: () => dispatcher.sendCancels(),
    });
    this.#work(CLUSTER_CHANNELS.access, {
      work: (clusterId) => agentAccess.recheck(clusterId),
      workOnAll: () => agentAccess.recheckAll(),
    });
  }

  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await Promise.all(this.#workers.map((worker) => worker.close()));
  }

  #work(channel: string, { work, workOnAll }: Pick<EventWorkerOptions, 'work' | 'workOnAll'>): void {
    const { events, onError } = this.#options;
    const fail = (error: unknown): void => onError(error, { channel });
    this.#workers.push(new EventWorker({ events, channel, work, workOnAll, onError: fail }));
  }
}
