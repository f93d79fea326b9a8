export interface TokenRate {
  /** Tokens that come back in a minute. */
  perMinute: number;
  /** Tokens that can be spent at once. */
  burst: number;
}

/** A token bucket. Time comes in with each call, in milliseconds; a clock that is set back takes no tokens away. */
export class TokenBucket {
  #rate: TokenRate;
  #tokens: number;
  #countedAtMs: number;

  constructor(rate: TokenRate, nowMs: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#countedAtMs = nowMs;
  }

  /** Applies a new rate. Tokens above the new burst are lost. */
  setRate(rate: TokenRate): void {
    this.#rate = rate;
    this.#tokens = Math.min(this.#tokens, rate.burst);
  }

  /** Tokens that can be spent now. */
  available(nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - this.#countedAtMs);
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + elapsedMs * this.#perMs);
    this.#countedAtMs = nowMs;
    return this.#tokens;
  }

  /** Milliseconds until so many tokens are there; 0 when they are, infinite when none ever come back. */
  waitMs(nowMs: number, tokens = 1): number {
    const missing = tokens - this.available(nowMs);
    return missing <= 0 ? 0 : Math.max(1, Math.ceil(missing / this.#perMs));
  }

  /** Spends tokens when they are there, else spends none and returns false. */
  take(nowMs: number, tokens = 1): boolean {
    if (this.available(nowMs) < tokens) return false;
    this.#tokens -= tokens;
    return true;
  }

  /** Adds tokens, or takes them away when negative, within zero and the burst. */
  add(nowMs: number, tokens: number): void {
    this.#tokens = Math.max(0, Math.min(this.#rate.burst, this.available(nowMs) + tokens));
  }

  /** When the bucket is full again, in milliseconds since the epoch of the clock. */
  fullAtMs(nowMs: number): number {
    return nowMs + (this.#rate.burst - this.available(nowMs)) / this.#perMs;
  }

  get #perMs(): number {
    return this.#rate.perMinute / 60_000;
  }
}
