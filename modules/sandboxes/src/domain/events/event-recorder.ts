import type { Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { EventLog, LooseEvent } from './event-log.ts';
import type { NewSandboxEvent } from './sandbox-event.ts';

/** Long enough to batch a burst of terminals into one write, short enough to go unnoticed. */
const FLUSH_AFTER_MS = 50;
const MAX_WAITING = 5_000;
const BATCH = 200;

/** Writes events that belong to no record change, in batches and in the background. */
export class EventRecorder {
  readonly #events: EventLog;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting: LooseEvent[] = [];
  #cancel: (() => void) | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(events: EventLog, clock: Clock, log: Logger) {
    this.#events = events;
    this.#clock = clock;
    this.#log = log;
  }

  record(sandbox: { readonly id: string; readonly workspaceUuid: string }, event: NewSandboxEvent): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#log.warn({ sandbox: sandbox.id, type: event.type }, 'too many events are queued; one was dropped');
      return;
    }
    const at = this.#clock.now().toISOString();
    this.#waiting.push({ ...event, workspaceUuid: sandbox.workspaceUuid, sandboxId: sandbox.id, at });
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
      await this.#events.append(batch).catch((error: unknown) => {
        this.#log.error({ err: error, events: batch.length }, 'events could not be written');
      });
    }
  }
}
