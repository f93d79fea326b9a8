import { MUX_CODES, ProtocolViolation } from './errors.ts';
import { INITIAL_WINDOW_BYTES } from './frames.ts';

/** The remaining growth of all windows of a session together. */
export class GrowthBudget {
  #leftBytes: number;

  constructor(totalBytes: number) {
    this.#leftBytes = totalBytes;
  }

  take(wantedBytes: number): number {
    const taken = Math.min(wantedBytes, this.#leftBytes);
    this.#leftBytes -= taken;
    return taken;
  }

  release(bytes: number): void {
    this.#leftBytes += bytes;
  }
}

/** Measuring period; a single burst from kernel memory says nothing about the link. */
const MEASURED_MS = 40;

/** Tracks a stream's credit, and when to grant more. */
export class ReceiveWindow {
  readonly #budget: GrowthBudget;
  readonly #maxBytes: number;
  #sizeBytes = INITIAL_WINDOW_BYTES;
  #creditBytes = INITIAL_WINDOW_BYTES;
  #takenBytes = 0;
  /** Bytes taken in this period, and whether the reader emptied the queue at least once. */
  #measuredBytes = 0;
  #measuredSinceMs: number;
  #wasEmpty = false;

  constructor(budget: GrowthBudget, maxBytes: number, nowMs: number) {
    this.#budget = budget;
    this.#maxBytes = maxBytes;
    this.#measuredSinceMs = nowMs;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Spends the peer's credit. Throws if there is too little. */
  spend(bytes: number): void {
    if (bytes > this.#creditBytes)
      throw new ProtocolViolation(MUX_CODES.FLOW_CONTROL_ERROR, `${bytes} bytes, credit ${this.#creditBytes}`);
    this.#creditBytes -= bytes;
  }

  /**
   * Records bytes taken by the reader and returns the credit to grant, mostly 0. If half a window is used within two
   * round trips, the window limits the sender and doubles, unless the queue was never empty: then the reader is slow,
   * and a larger window would only fill memory.
   */
  taken(bytes: number, nowMs: number, roundTripMs: number | null): number {
    this.#takenBytes += bytes;
    if (this.#creditBytes + this.#takenBytes === this.#sizeBytes) this.#wasEmpty = true;
    if (this.#takenBytes * 2 < this.#sizeBytes) return 0;
    this.#measuredBytes += this.#takenBytes;
    const grant = this.#takenBytes + this.#growth(nowMs, roundTripMs);
    this.#creditBytes += grant;
    this.#takenBytes = 0;
    return grant;
  }

  #growth(nowMs: number, roundTripMs: number | null): number {
    const elapsedMs = nowMs - this.#measuredSinceMs;
    if (elapsedMs < MEASURED_MS) return 0;
    const isTooSmall =
      this.#wasEmpty && roundTripMs !== null && this.#measuredBytes * 4 * roundTripMs > this.#sizeBytes * elapsedMs;
    const growth = isTooSmall ? this.#budget.take(Math.min(this.#sizeBytes, this.#maxBytes - this.#sizeBytes)) : 0;
    this.#sizeBytes += growth;
    this.#measuredBytes = 0;
    this.#measuredSinceMs = nowMs;
    this.#wasEmpty = false;
    return growth;
  }

  release(): void {
    this.#budget.release(this.#sizeBytes - INITIAL_WINDOW_BYTES);
    this.#sizeBytes = INITIAL_WINDOW_BYTES;
  }
}
