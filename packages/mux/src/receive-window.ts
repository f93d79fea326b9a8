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

/** How much one stream may still be sent, and when to give it more. */
export class ReceiveWindow {
  readonly #budget: GrowthBudget;
  readonly #maxBytes: number;
  #sizeBytes = INITIAL_WINDOW_BYTES;
  #creditBytes = INITIAL_WINDOW_BYTES;
  #takenBytes = 0;
  /** Since the last grant the reader had taken all that had come, at least once. */
  #wasEmpty = false;
  #grantedAtMs: number;

  constructor(budget: GrowthBudget, maxBytes: number, nowMs: number) {
    this.#budget = budget;
    this.#maxBytes = maxBytes;
    this.#grantedAtMs = nowMs;
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
   * The reader has taken bytes; answers the credit to give for it, mostly 0. Where half a window was used up within two
   * round trips, it was the window that held the sender back, and it doubles; unless bytes always waited here: then it is
   * the reader who is slow, and more of them would only fill memory.
   */
  taken(bytes: number, nowMs: number, roundTripMs: number | null): number {
    this.#takenBytes += bytes;
    if (this.#creditBytes + this.#takenBytes === this.#sizeBytes) this.#wasEmpty = true;
    if (this.#takenBytes * 2 < this.#sizeBytes) return 0;
    const isTooSmall = this.#wasEmpty && roundTripMs !== null && nowMs - this.#grantedAtMs < 2 * roundTripMs;
    const growth = isTooSmall ? this.#budget.take(Math.min(this.#sizeBytes, this.#maxBytes - this.#sizeBytes)) : 0;
    const grant = this.#takenBytes + growth;
    this.#sizeBytes += growth;
    this.#creditBytes += grant;
    this.#takenBytes = 0;
    this.#wasEmpty = false;
    this.#grantedAtMs = nowMs;
    return grant;
  }

  release(): void {
    this.#budget.giveBack(this.#sizeBytes - INITIAL_WINDOW_BYTES);
    this.#sizeBytes = INITIAL_WINDOW_BYTES;
  }
}
