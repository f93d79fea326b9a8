import { MUX_CODES, ProtocolViolation } from './errors.ts';
import { INITIAL_WINDOW_BYTES } from './frames.ts';

/** What the windows of a session may still grow by, all together. */
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

  giveBack(bytes: number): void {
    this.#leftBytes += bytes;
  }
}

/** Over so long, since what arrives in one burst from the memory of the kernel tells nothing of the link. */
const MEASURED_MS = 40;

/** How much one stream may still be sent, and when to give it more. */
export class ReceiveWindow {
  readonly #budget: GrowthBudget;
  readonly #maxBytes: number;
  #sizeBytes = INITIAL_WINDOW_BYTES;
  #creditBytes = INITIAL_WINDOW_BYTES;
  #takenBytes = 0;
  /** What was taken since then, and whether the reader had all that had come at least once. */
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

  /** The other side spends credit. Throws when it has too little. */
  spend(bytes: number): void {
    if (bytes > this.#creditBytes)
      throw new ProtocolViolation(MUX_CODES.FLOW_CONTROL_ERROR, `${bytes} bytes, credit ${this.#creditBytes}`);
    this.#creditBytes -= bytes;
  }

  /**
   * The reader has taken bytes; answers the credit to give for it, mostly 0. Where half a window is used up within two
   * round trips, it is the window that holds the sender back, and it doubles; unless bytes always waited here: then it is
   * the reader who is slow, and more of them would only fill memory.
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
    this.#budget.giveBack(this.#sizeBytes - INITIAL_WINDOW_BYTES);
    this.#sizeBytes = INITIAL_WINDOW_BYTES;
  }
}
