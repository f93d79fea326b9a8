import { ReceiveCredit } from '@svc/link';
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

/** Used bytes are granted again in halves of a window. */
const GRANT_SHARE = 0.5;

/** A stream's credit, with a window that grows with the link. */
export class ReceiveWindow {
  readonly #budget: GrowthBudget;
  readonly #maxBytes: number;
  readonly #credit = new ReceiveCredit(INITIAL_WINDOW_BYTES, GRANT_SHARE);
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
    return this.#credit.windowBytes;
  }

  /** Spends the peer's credit. Throws if there is too little. */
  spend(bytes: number): void {
    if (this.#credit.spend(bytes)) return;
    throw new ProtocolViolation(MUX_CODES.FLOW_CONTROL_ERROR, `${bytes} bytes, credit ${this.#credit.leftBytes}`);
  }

  /**
   * Records bytes taken by the reader and returns the credit to grant, mostly 0. If half a window is used within two
   * round trips, the window limits the sender and doubles, unless the queue was never empty: then the reader is slow,
   * and a larger window would only fill memory.
   */
  taken(bytes: number, nowMs: number, roundTripMs: number | null): number {
    const usedBytes = this.#credit.use(bytes);
    if (this.#credit.isCaughtUp) this.#wasEmpty = true;
    if (usedBytes === 0) return 0;
    this.#measuredBytes += usedBytes;
    return usedBytes + this.#grow(nowMs, roundTripMs);
  }

  #grow(nowMs: number, roundTripMs: number | null): number {
    const sizeBytes = this.#credit.windowBytes;
    const elapsedMs = nowMs - this.#measuredSinceMs;
    if (elapsedMs < MEASURED_MS) return 0;
    const isTooSmall =
      this.#wasEmpty && roundTripMs !== null && this.#measuredBytes * 4 * roundTripMs > sizeBytes * elapsedMs;
    const growth = isTooSmall ? this.#budget.take(Math.min(sizeBytes, this.#maxBytes - sizeBytes)) : 0;
    this.#credit.resize(sizeBytes + growth);
    this.#measuredBytes = 0;
    this.#measuredSinceMs = nowMs;
    this.#wasEmpty = false;
    return growth;
  }

  release(): void {
    this.#budget.release(this.#credit.windowBytes - INITIAL_WINDOW_BYTES);
    this.#credit.resize(INITIAL_WINDOW_BYTES);
  }
}
