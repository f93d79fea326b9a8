/**
 * The credit of a peer on one stream: how much it may still send, and when to grant more. The window is what may be
 * under way or unread at once.
 */
export class ReceiveCredit {
  /** Used bytes are granted again once they make up this fraction of the window, so that small reads cost no frame. */
  readonly #grantShare: number;
  #windowBytes: number;
  #leftBytes: number;
  #usedBytes = 0;

  /** The peer starts with credit for the whole window. */
  constructor(windowBytes: number, grantShare: number) {
    this.#windowBytes = windowBytes;
    this.#leftBytes = windowBytes;
    this.#grantShare = grantShare;
  }

  get windowBytes(): number {
    return this.#windowBytes;
  }

  /** Credit that the peer has left. */
  get leftBytes(): number {
    return this.#leftBytes;
  }

  /** Whether the reader has used everything that arrived. */
  get isCaughtUp(): boolean {
    return this.#leftBytes + this.#usedBytes === this.#windowBytes;
  }

  /** Counts bytes that arrived; returns false if the peer had no credit for them. */
  spend(bytes: number): boolean {
    if (bytes > this.#leftBytes) return false;
    this.#leftBytes -= bytes;
    return true;
  }

  /** Counts bytes that the reader has used. Returns the credit to send now, mostly 0. */
  use(bytes: number): number {
    this.#usedBytes += bytes;
    if (this.#usedBytes < this.#windowBytes * this.#grantShare) return 0;
    const grantBytes = this.#usedBytes;
    this.#leftBytes += grantBytes;
    this.#usedBytes = 0;
    return grantBytes;
  }

  /** Enlarges the window, which the caller announces to the peer, or reduces it again when the stream has ended. */
  resize(windowBytes: number): void {
    this.#leftBytes += windowBytes - this.#windowBytes;
    this.#windowBytes = windowBytes;
  }
}

/** The credit of this side on one stream: how much it may still send. */
export class SendCredit {
  readonly #maxBytes: number;
  #leftBytes: number;
  #waiting: (() => void)[] = [];

  /** `maxBytes` is the most that a peer may have granted at once. */
  constructor(initialBytes: number, maxBytes: number) {
    this.#leftBytes = initialBytes;
    this.#maxBytes = maxBytes;
  }

  get leftBytes(): number {
    return this.#leftBytes;
  }

  spend(bytes: number): void {
    this.#leftBytes -= bytes;
  }

  /** Adds credit from the peer and wakes those that wait; returns false if it is more than the peer may grant. */
  add(bytes: number): boolean {
    if (this.#leftBytes + bytes > this.#maxBytes) return false;
    this.#leftBytes += bytes;
    this.wake();
    return true;
  }

  /** Resolves at the next credit, or when the stream ends and its owner calls `wake`. */
  more(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  wake(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
