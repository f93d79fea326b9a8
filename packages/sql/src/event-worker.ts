import type { DatabaseEvents } from './database-events.ts';

/** Channel, work and limits of an `EventWorker`. */
export interface EventWorkerOptions {
  events: DatabaseEvents;
  channel: string;
  /** Works on one id. */
  work: (id: string) => Promise<void>;
  /** Works on everything, because events may have been missed. */
  workOnAll: () => Promise<void>;
  onError: (error: unknown) => void;
  /** More waiting ids than this count as missed events. Defaults to 1000. */
  maxWaiting?: number;
}

/**
 * Does asynchronous work for the events of a channel, one at a time. Equal ids that wait are worked on once, and what
 * does not fit becomes one run over everything.
 */
export class EventWorker {
  readonly #options: EventWorkerOptions;
  readonly #waiting = new Set<string>();
  readonly #unsubscribe: () => void;
  #isAllDue = false;
  #isClosed = false;
  #running: Promise<void> | null = null;

  constructor(options: EventWorkerOptions) {
    this.#options = options;
    const { maxWaiting = 1000 } = options;
    this.#unsubscribe = options.events.subscribe(options.channel, {
      onEvent: (id) => {
        if (this.#waiting.size < maxWaiting || this.#waiting.has(id)) this.#waiting.add(id);
        else this.#isAllDue = true;
        this.#start();
      },
      onMissed: () => {
        this.#isAllDue = true;
        this.#start();
      },
    });
  }

  /** Resolves when the current work has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe();
    await this.#running;
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      const next = this.#takeNext();
      if (next === null) return;
      try {
        await next();
      } catch (error) {
        this.#options.onError(error);
      }
    }
  }

  #takeNext(): (() => Promise<void>) | null {
    if (this.#isAllDue) {
      this.#isAllDue = false;
      this.#waiting.clear();
      return this.#options.workOnAll;
    }
    const [id] = this.#waiting;
    if (id === undefined) return null;
    this.#waiting.delete(id);
    return () => this.#options.work(id);
  }
}
