import { Shares, type Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { EventLog, LooseEvent } from './event-log.ts';
import type { NewSandboxEvent } from './sandbox-event.ts';

/** Long enough to batch a burst of terminals into one write, short enough to go unnoticed. */
const FLUSH_AFTER_MS = 50;
/** Of all workspaces together, of which each has a share. */
const MAX_WAITING = 5_000;
const BATCH = 200;

/** Writes events that belong to no record change, in batches and in the background. */
export class EventRecorder {
  readonly #events: EventLog;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting: { readonly event: LooseEvent; readonly release: () => void }[] = [];
  readonly #shares: Shares;
  #cancel: (() => void) | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(events: EventLog, clock: Clock, log: Logger, maxWaiting = MAX_WAITING) {
    this.#shares = new Shares({ capacity: maxWaiting, holders: { key: 'workspace', group: 'workspace' } });
    this.#events = events;
    this.#clock = clock;
    this.#log = log;
  }

  record(sandbox: { readonly id: string; readonly workspaceUuid: string }, event: NewSandboxEvent): void {
    const { refusal, release } = this.#shares.take(sandbox.workspaceUuid);
    if (release === null) {
      this.#log.warn(
        { sandbox: sandbox.id, type: event.type, ...refusal },
        'too many events are queued; one was dropped',
      );
      return;
    }
    const at = this.#clock.now().toISOString();
    const { id: sandboxId, workspaceUuid } = sandbox;
    this.#waiting.push({ event: { ...event, workspaceUuid, sandboxId, at }, release });
    this.#cancel ??= this.#clock.setTimer(() => {
      this.#cancel = null;
      this.#writing = this.#writing.then(() => this.#write());
    }, FLUSH_AFTER_MS);
  }

  /** Writes pending events. */
  async close(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    await this.#writing;
    await this.#write();
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      await this.#events.append(batch.map(({ event }) => event)).catch((error: unknown) => {
        this.#log.error({ err: error, events: batch.length }, 'events could not be written');
      });
      for (const { release } of batch) release();
    }
  }
}
