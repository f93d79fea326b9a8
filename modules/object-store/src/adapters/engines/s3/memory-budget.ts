import { storeErrors } from '../../../errors.ts';

interface Waiting {
  bytes: number;
  admit(): void;
}

const MOST_WAITING = 4_096;

/**
 * Memory shared by all uploads. Each upload reserves its maximum before its first byte, so none waits for more while
 * holding some. First come, first served.
 */
export class MemoryBudget {
  readonly #capacityBytes: number;
  readonly #queue: Waiting[] = [];
  #freeBytes: number;

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
    this.#freeBytes = capacityBytes;
  }

  /** Returns the function that releases the memory. Throws `SlowDown` when too many uploads wait. */
  async take(wanted: number): Promise<() => void> {
    const bytes = Math.min(wanted, this.#capacityBytes);
    if (this.#queue.length > 0 || bytes > this.#freeBytes) {
      if (this.#queue.length >= MOST_WAITING) throw storeErrors.SlowDown({ headers: { 'retry-after': '1' } });
      await new Promise<void>((resolve) => this.#queue.push({ bytes, admit: resolve }));
    } else {
      this.#freeBytes -= bytes;
    }
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#freeBytes += bytes;
      this.#admit();
    };
  }

  #admit(): void {
    for (;;) {
      const [next] = this.#queue;
      if (next === undefined || next.bytes > this.#freeBytes) return;
      this.#queue.shift();
      this.#freeBytes -= next.bytes;
      next.admit();
    }
  }
}
