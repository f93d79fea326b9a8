import { accountErrors } from '../../errors.ts';

/**
 * Runs `slots` tasks at once and queues up to `waiting` more; others are refused with BUSY. Hashing a password takes
 * tens of MiB and a core, so an unbounded burst of sign-ins would exhaust the machine.
 */
export class Gate {
  readonly #slots: number;
  readonly #maxWaiting: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(slots: number, maxWaiting: number) {
    this.#slots = slots;
    this.#maxWaiting = maxWaiting;
  }

  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#slots) {
      if (this.#waiting.length >= this.#maxWaiting) throw accountErrors.BUSY({ headers: { 'retry-after': '1' } });
      await new Promise<void>((resolve) => this.#waiting.push(resolve)); // the slot is handed over, not freed
    } else {
      this.#running += 1;
    }
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
