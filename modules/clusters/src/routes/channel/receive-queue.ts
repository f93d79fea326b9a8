import type { MessageBudget } from '@svc/protocol';
import type { Clock } from '@svc/runtime';

export interface ReceiveQueueOptions<Message> {
  budget: MessageBudget;
  clock: Clock;
  handle: (message: Message) => Promise<void>;
  /** True if the message may skip output and events, because no earlier message can change its meaning. */
  isPriority: (message: Message) => boolean;
  /** Called when the peer exceeds its rate. */
  onLimited: (retryAfterMs: number) => void;
  /** Stops and resumes reading the socket. */
  pause: () => void;
  resume: () => void;
  onError: (error: unknown) => void;
  maxMessages: number;
  maxSizeBytes: number;
}

interface Received<Message> {
  message: Message;
  sizeBytes: number;
}

/**
 * Handles incoming messages one at a time, no faster than the contract's rate. Excess messages wait here and then in
 * the sender's socket. Nothing is dropped: an agent whose frames piled up behind a slow proxy loses nothing, and a
 * hostile one is only slowed down.
 */
export class ReceiveQueue<Message> {
  readonly #options: ReceiveQueueOptions<Message>;
  readonly #urgent: Received<Message>[] = [];
  readonly #ordinary: Received<Message>[] = [];
  #sizeBytes = 0;
  #paused = false;
  #closed = false;
  #running: Promise<void> | undefined;
  #wake: (() => void) | undefined;

  constructor(options: ReceiveQueueOptions<Message>) {
    this.#options = options;
  }

  get paused(): boolean {
    return this.#paused;
  }

  push(message: Message, sizeBytes: number): void {
    if (this.#closed) return;
    const urgent = this.#options.isPriority(message);
    (urgent ? this.#urgent : this.#ordinary).push({ message, sizeBytes });
    this.#sizeBytes += sizeBytes;
    if (urgent) this.#wake?.();
    if (!this.#paused && this.#isBeyond(1)) {
      this.#paused = true;
      this.#options.pause();
    }
    this.#running ??= this.#run();
  }

  /** Drops queued messages. Resolves when the current one is handled. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#urgent.length = 0;
    this.#ordinary.length = 0;
    this.#wake?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      const queue = this.#urgent.length > 0 ? this.#urgent : this.#ordinary;
      const next = queue[0];
      if (next === undefined) break;
      // No reserve for urgent messages: the sender has chosen the order, and a waiting message blocks all those behind
      // it.
      const waitMs = this.#options.budget.take(true);
      if (waitMs > 0) {
        this.#options.onLimited(waitMs);
        await this.#pauseFor(waitMs);
        continue;
      }
      queue.shift();
      this.#sizeBytes -= next.sizeBytes;
      await this.#options.handle(next.message).catch(this.#options.onError);
      if (this.#paused && !this.#closed && !this.#isBeyond(0.5)) {
        this.#paused = false;
        this.#options.resume();
      }
    }
    this.#running = undefined;
  }

  #isBeyond(share: number): boolean {
    const { maxMessages, maxSizeBytes } = this.#options;
    const messages = this.#urgent.length + this.#ordinary.length;
    return messages >= maxMessages * share || this.#sizeBytes >= maxSizeBytes * share;
  }

  #pauseFor(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.setTimer(resolve, delayMs);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
