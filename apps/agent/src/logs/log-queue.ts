import { PROTOCOL_LIMITS, type CommandOutput } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import { encodePlace, type LogPlace } from './log-place.ts';

export interface LogQueueOptions {
  clock: Clock;
  /** Resolves when the piece is sent; rejects if it never will be. */
  send(piece: Omit<CommandOutput, 'command_id' | 'seq'>): Promise<void>;
  /** Limit of waiting text, in UTF-16 units. */
  maxWaiting: number;
}

interface Waiting {
  text: string;
  place: LogPlace | null;
}

/**
 * Coalesces lines on their way to the platform. If the platform is slow or offline, the oldest lines are dropped and
 * counted.
 */
export class LogQueue {
  readonly #options: LogQueueOptions;
  #lines: Waiting[] = [];
  #head = 0;
  #waiting = 0;
  #droppedHere = 0;
  #dropped = 0;
  #sending: Promise<void> | null = null;
  #cancelTimer: (() => void) | undefined;
  #broken = false;
  #room: PromiseWithResolvers<void> | null = null;

  constructor(options: LogQueueOptions) {
    this.#options = options;
  }

  get droppedLines(): number {
    return this.#dropped;
  }

  /** The position is sent with the piece that ends with this line, so that the receiver can resume after it. */
  add(text: string, place: LogPlace | null = null): void {
    this.#lines.push({ text, place });
    this.#waiting += text.length;
    while (this.#waiting > this.#options.maxWaiting && this.#lines.length - this.#head > 1) this.#dropOldest();
    if (this.#waiting >= PROTOCOL_LIMITS.outputChunkSizeBytes) this.#flush();
    else this.#cancelTimer ??= this.#options.clock.setTimer(() => this.#flush(), PROTOCOL_LIMITS.outputFlushMs);
  }

  /** For a reader that can wait: resolves when half of the queue is free, or when nothing more can be sent. */
  async room(): Promise<void> {
    while (this.#waiting > this.#options.maxWaiting / 2 && !this.#broken) {
      this.#room ??= Promise.withResolvers<void>();
      await this.#room.promise;
    }
  }

  /** Resolves when everything has been sent or never will be. */
  async end(): Promise<void> {
    while ((this.#head < this.#lines.length && !this.#broken) || this.#sending !== null) {
      this.#flush();
      await this.#sending;
    }
  }

  #dropOldest(): void {
    this.#waiting -= this.#take().text.length;
    this.#droppedHere += 1;
    this.#dropped += 1;
  }

  #take(): Waiting {
    const line = this.#lines[this.#head] ?? { text: '', place: null };
    this.#head += 1;
    if (this.#head > 1024 && this.#head * 2 > this.#lines.length) {
      this.#lines = this.#lines.slice(this.#head);
      this.#head = 0;
    }
    return line;
  }

  #flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#sending !== null || this.#broken || this.#head >= this.#lines.length) return;
    this.#sending = this.#sendAll()
      .catch(() => {
        this.#broken = true; // the command was cancelled while the platform was offline
      })
      .finally(() => {
        this.#sending = null;
        this.#wake();
      });
  }

  async #sendAll(): Promise<void> {
    while (this.#head < this.#lines.length) {
      const taken: string[] = [];
      let length = 0;
      let place: LogPlace | null = null;
      while (this.#head < this.#lines.length && length < PROTOCOL_LIMITS.outputChunkSizeBytes) {
        const line = this.#take();
        taken.push(line.text);
        length += line.text.length;
        ({ place } = line);
      }
      this.#waiting -= length;
      const dropped = this.#droppedHere;
      this.#droppedHere = 0;
      const data = taken.join('');
      await this.#options.send({
        stream: 'log',
        encoding: 'utf8',
        data,
        ...(dropped === 0 ? {} : { dropped_lines: dropped }),
        ...(place === null ? {} : { position: encodePlace(place) }),
      });
      this.#wake();
    }
  }

  #wake(): void {
    this.#room?.resolve();
    this.#room = null;
  }
}
