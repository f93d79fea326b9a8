import type { Clock } from '@svc/runtime';

/** Limits and effects of a send queue. */
export interface SendQueueOptions {
  /** The permitted rate: returns 0 and counts the message, or the milliseconds until there is room for one. */
  budget: { take(isControl: boolean): number };
  clock: Pick<Clock, 'setTimer'>;
  /** Resolves when the message has been written to the network. */
  write: (text: string) => Promise<void>;
  /** Called when a lane is full, because the peer does not read. Returns the error for the sender. */
  onOverflow: () => Error;
  /** Maximum messages in each lane. */
  maxMessages: number;
}

interface Waiting {
  text: string;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * One bulk message is sent after this many control messages, so that many acknowledgements or replies do not hold up all
 * commands, logs and events.
 */
const CONTROL_IN_A_ROW = 3;

/**
 * Outgoing messages in two lanes, within a rate: control messages first, bulk messages when the budget leaves room or
 * their turn has come. They are written one at a time, so callers that await `send` feel a slow network.
 */
export class SendQueue {
  readonly #options: SendQueueOptions;
  readonly #control: Waiting[] = [];
  readonly #bulk: Waiting[] = [];
  #cancelTimer: (() => void) | undefined;
  /** Control messages since the last bulk message. */
  #controlInARow = 0;
  #writing = false;
  #closedBy: Error | undefined;

  constructor(options: SendQueueOptions) {
    this.#options = options;
  }

  /** Messages waiting for the rate or the network. */
  get length(): number {
    return this.#control.length + this.#bulk.length;
  }

  /** Resolves when the message is written. Rejects when its lane is full, and when the queue is closed. */
  send(text: string, isControl: boolean): Promise<void> {
    if (this.#closedBy !== undefined) return Promise.reject(this.#closedBy);
    const lane = isControl ? this.#control : this.#bulk;
    if (lane.length >= this.#options.maxMessages) return Promise.reject(this.#options.onOverflow());
    return new Promise((resolve, reject) => {
      lane.push({ text, resolve, reject });
      if (isControl) this.#stopWaiting(); // the timer may belong to a bulk message, which needs more room
      this.#advance();
    });
  }

  /** Rejects everything that waits, and later messages. */
  close(error: Error): void {
    this.#closedBy ??= error;
    this.#stopWaiting();
    for (const waiting of [...this.#control.splice(0), ...this.#bulk.splice(0)]) waiting.reject(error);
  }

  #stopWaiting(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #advance(): void {
    if (this.#writing || this.#cancelTimer !== undefined || this.#closedBy !== undefined) return;
    const bulkIsDue = this.#bulk.length > 0 && this.#controlInARow >= CONTROL_IN_A_ROW;
    const lane = this.#control.length > 0 && !bulkIsDue ? this.#control : this.#bulk;
    if (lane.length === 0) return;
    const waitMs = this.#options.budget.take(lane === this.#control || bulkIsDue);
    if (waitMs > 0) {
      this.#cancelTimer = this.#options.clock.setTimer(() => {
        this.#cancelTimer = undefined;
        this.#advance();
      }, waitMs);
      return;
    }
    const next = lane.shift();
    this.#controlInARow = lane === this.#control ? this.#controlInARow + 1 : 0;
    if (next !== undefined) this.#write(next);
  }

  #write(waiting: Waiting): void {
    this.#writing = true;
    this.#options.write(waiting.text).then(
      () => {
        this.#writing = false;
        waiting.resolve();
        this.#advance();
      },
      (error: unknown) => {
        this.#writing = false;
        waiting.reject(error instanceof Error ? error : new Error(String(error)));
        this.#advance();
      },
    );
  }
}
