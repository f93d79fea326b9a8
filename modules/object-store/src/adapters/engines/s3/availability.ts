import type { Clock } from '@svc/runtime';
import { storeErrors } from '../../../errors.ts';
import { isAnswer, RETRY_AFTER } from './failures.ts';

const FAILURES_TO_REST = 3;
const REST_MS = 2_000;

/**
 * A circuit breaker for the upstream engine. After several failures in a row, requests fail at once instead of each
 * waiting for its timeout. One probe every two seconds goes through, and the first response closes the circuit.
 */
export class Availability {
  readonly #clock: Clock;
  #failures = 0;
  #restUntilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
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

  /** Also called when a body is cut off. */
  failed(): void {
    this.#failures += 1;
    if (this.#failures >= FAILURES_TO_REST) this.#restUntilMs = this.#clock.nowMs() + REST_MS;
  }

  #assertAwake(): void {
    if (this.#failures < FAILURES_TO_REST) return;
    if (this.#clock.nowMs() < this.#restUntilMs) throw storeErrors.ProviderUnavailable({ headers: RETRY_AFTER });
    this.#restUntilMs = this.#clock.nowMs() + REST_MS; // this request probes; the others fail until it succeeds
  }
}
