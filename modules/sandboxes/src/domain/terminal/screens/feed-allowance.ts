const BURST_BYTES = 16 * 1024 * 1024;
const BYTES_IN_A_SECOND = 2 * 1024 * 1024;

/** Limits how much of a session's output is parsed: a burst, then a fixed rate per second under a flood. */
export class FeedAllowance {
  readonly #nowMs: () => number;
  #left = BURST_BYTES;
  #atMs: number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#atMs = nowMs();
  }

  /** Returns how many of the bytes are granted now. */
  take(bytes: number): number {
    const nowMs = this.#nowMs();
    const gained = (Math.max(0, nowMs - this.#atMs) / 1000) * BYTES_IN_A_SECOND;
    this.#left = Math.min(BURST_BYTES, this.#left + gained);
    this.#atMs = nowMs;
    const granted = Math.min(bytes, Math.floor(this.#left));
    this.#left -= granted;
    return granted;
  }
}
