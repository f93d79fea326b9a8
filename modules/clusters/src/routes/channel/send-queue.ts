import type { MessageBudget } from '@svc/protocol';
import type { Clock } from '@svc/runtime';

interface Waiting {
  text: string;
  resolve: () => void;
  reject: (error: Error) => void;
}

export interface SendQueueOptions {
  budget: MessageBudget;
  clock: Clock;
  /** Writes one frame to the socket; resolves when the kernel has taken it, which provides backpressure. */
  write: (text: string) => Promise<void>;
  /** Called when the queue is full and the peer takes nothing. */
  onOverflow: () => void;
  maxMessages: number;
}

/**
 * One bulk frame is sent after this many control frames, so that acknowledging many events does not hold up all
 * commands.
 */
const CONTROL_IN_A_ROW = 3;

/**
 * Outgoing frames, one at a time and never faster than the contract allows: control frames first, bulk frames when the
 * rate leaves room or their turn has come.
 */
export class SendQueue {
  readonly #options: SendQueueOptions;
  readonly #control: Waiting[] = [];
  readonly #bulk: Waiting[] = [];
  /** Control frames since the last bulk frame. */
  #controlInARow = 0;
  #running = false;
  #closed: Error | undefined;
  #cancelWait: (() => void) | undefined;
  #wake: (() => void) | undefined;

  constructor(options: SendQueueOptions) {
    this.#options = options;
  }

  send(text: string, control: boolean): Promise<void> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    const queue = control ? this.#control : this.#bulk;
    if (queue.length >= this.#options.maxMessages) {
      this.#options.onOverflow();
      return Promise.reject(new Error('the send queue is full'));
    }
    return new Promise((resolve, reject) => {
      queue.push({ text, resolve, reject });
      if (control) this.#wake?.(); // need not wait for the tokens that output waits for
      if (!this.#running) void this.#run();
    });
  }

  close(reason: Error): void {
    this.#closed = reason;
    this.#wake?.();
    for (const waiting of [...this.#control.splice(0), ...this.#bulk.splice(0)]) waiting.reject(reason);
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#closed === undefined) {
      const bulkIsDue = this.#bulk.length > 0 && this.#controlInARow >= CONTROL_IN_A_ROW;
      const queue = this.#control.length > 0 && !bulkIsDue ? this.#control : this.#bulk;
      if (queue.length === 0) break;
      const waitMs = this.#options.budget.take(queue === this.#control || bulkIsDue);
      if (waitMs > 0) {
        await this.#pause(waitMs);
        continue;
      }
      const next = queue.shift();
      if (next === undefined) break;
      this.#controlInARow = queue === this.#control ? this.#controlInARow + 1 : 0;
      await this.#options.write(next.text).then(next.resolve, next.reject);
    }
    this.#running = false;
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#cancelWait = this.#options.clock.setTimer(resolve, delayMs);
      this.#wake = () => {
        this.#cancelWait?.();
        resolve();
      };
    });
  }
}
