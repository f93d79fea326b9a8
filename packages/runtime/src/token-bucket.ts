/** Rate of a token bucket. */
export interface TokenRate {
  /** Tokens refilled per minute. */
  perMinute: number;
  /** Tokens that can be spent at once. */
  burst: number;
}

/** A token bucket. Callers pass the time in milliseconds; a clock that is set back removes no tokens. */
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

  /** Number of tokens available now. */
  available(nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - this.#countedAtMs);
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + elapsedMs * this.#perMs);
    this.#countedAtMs = nowMs;
    return this.#tokens;
  }

  /** Milliseconds until this many tokens are available; 0 if they are, infinite if none are ever refilled. */
  waitMs(nowMs: number, tokens = 1): number {
    const missing = tokens - this.available(nowMs);
    return missing <= 0 ? 0 : Math.max(1, Math.ceil(missing / this.#perMs));
  }

  /** Takes the tokens and returns true if available; otherwise takes none. */
  take(nowMs: number, tokens = 1): boolean {
    if (this.available(nowMs) < tokens) return false;
    this.#tokens -= tokens;
    return true;
  }

  /** Adds tokens, or removes them if negative; clamps to zero and the burst. */
  add(nowMs: number, tokens: number): void {
    this.#tokens = Math.max(0, Math.min(this.#rate.burst, this.available(nowMs) + tokens));
  }

  /** When the bucket is full again, in milliseconds on the same clock. */
  fullAtMs(nowMs: number): number {
    return nowMs + (this.#rate.burst - this.available(nowMs)) / this.#perMs;
  }

  get #perMs(): number {
    return this.#rate.perMinute / 60_000;
  }
}
