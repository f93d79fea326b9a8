import type { MessageBudget } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import { agentErrors } from '../errors.ts';

export interface SendQueueOptions {
  budget: MessageBudget;
  clock: Clock;
  /** Resolves when the frame has been written to the network. */
  write: (text: string) => Promise<void>;
  /** Called when the queue is full: the peer is not reading. */
  overflow: () => void;
  maxMessages: number;
}

interface Waiting {
  text: string;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * One bulk frame is sent after this many control frames, so that replies to many short commands do not hold up all logs
 * and events.
 */
const CONTROL_IN_A_ROW = 3;

/**
 * Outgoing frames in two lanes: control frames first, bulk frames when the budget leaves room or their turn has come.
 * Frames are written one at a time, so callers that await `send` feel a slow network.
 */
export class SendQueue {
  readonly #options: SendQueueOptions;
  readonly #control: Waiting[] = [];
  readonly #bulk: Waiting[] = [];
  #cancelTimer: (() => void) | undefined;
  /** Control frames since the last bulk frame. */
  #controlInARow = 0;
  #writing = false;
  #closedBy: Error | undefined;

  constructor(options: SendQueueOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#control.length + this.#bulk.length;
  }

  send(text: string, control: boolean): Promise<void> {
    if (this.#closedBy !== undefined) return Promise.reject(this.#closedBy);
    if (this.length >= this.#options.maxMessages) {
      this.#options.overflow();
      return Promise.reject(agentErrors.UNAVAILABLE({ details: { reason: 'the platform does not read' } }));
    }
    return new Promise((resolve, reject) => {
      (control ? this.#control : this.#bulk).push({ text, resolve, reject });
      if (control) this.#stopWaiting(); // the timer may belong to a bulk frame, which needs more room
      this.#advance();
    });
  }

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
