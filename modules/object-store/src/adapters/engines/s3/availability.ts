import { storeErrors } from '../../../errors.ts';
import { isAnswer, RETRY_AFTER } from './failures.ts';

const FAILURES_TO_REST = 3;
const REST_MS = 2_000;

/**
 * While the engine is away, who comes is told at once instead of waiting for a timeout of his own: after some failures in
 * a row one request in two seconds goes through to look, and the first answer opens the way again.
 */
export class Availability {
  readonly #now: () => number;
  #failures = 0;
  #restUntilMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  async run<Result>(request: () => Promise<Result>): Promise<Result> {
    this.#assertAwake();
    try {
      const result = await request();
      this.#failures = 0;
      return result;
    } catch (error) {
      if (isAnswer(error)) this.#failures = 0;
      else this.failed();
      throw error;
    }
  }

  /** A body that was cut counts as well. */
  failed(): void {
    this.#failures += 1;
    if (this.#failures >= FAILURES_TO_REST) this.#restUntilMs = this.#now() + REST_MS;
  }

  #assertAwake(): void {
    if (this.#failures < FAILURES_TO_REST) return;
    if (this.#now() < this.#restUntilMs) throw storeErrors.ProviderUnavailable({ headers: RETRY_AFTER });
    this.#restUntilMs = this.#now() + REST_MS; // this one looks, the others wait for what it finds
  }
}
