import { storeErrors } from '../errors.ts';

/** Bounds how much runs at once; who comes when it is full is told to slow down instead of waiting in memory. */
export class Admission {
  readonly #limit: number;
  #inside = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Answers how to leave. Throws `SlowDown`. */
  enter(): () => void {
    if (this.#inside >= this.#limit) throw storeErrors.SlowDown({ headers: { 'retry-after': '1' } });
    this.#inside += 1;
    let left = false;
    return () => {
      if (!left) this.#inside -= 1;
      left = true;
    };
  }
}
