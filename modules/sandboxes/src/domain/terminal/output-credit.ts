/**
 * Decides when output counts as received. A client that sends acks never receives more than a window ahead of what it
 * has displayed, because browsers buffer input without limit. For other clients, output counts once the socket has
 * taken it.
 */
export class OutputCredit {
  readonly #acknowledges: boolean;
  readonly #consumed: (bytes: number) => void;
  #outstandingBytes = 0;
  /** Bytes of the screen. They are acknowledged first, like output, but are not output of the process. */
  #screenBytes = 0;

  constructor(acknowledges: boolean, consumed: (bytes: number) => void) {
    this.#acknowledges = acknowledges;
    this.#consumed = consumed;
  }

  /** Reports a screen of this many bytes, sent before all output. */
  shown(bytes: number): void {
    if (this.#acknowledges) this.#screenBytes = bytes;
  }

  /** Reports bytes that the socket has taken. */
  sent(bytes: number): void {
    if (this.#acknowledges) this.#outstandingBytes += bytes;
    else this.#consumed(bytes);
  }

  /** Reports bytes that the client has displayed; anything beyond what was sent is ignored. */
  acknowledged(bytes: number): void {
    const ofScreen = Math.min(bytes, this.#screenBytes);
    this.#screenBytes -= ofScreen;
    const shown = Math.min(bytes - ofScreen, this.#outstandingBytes);
    this.#outstandingBytes -= shown;
    if (shown > 0) this.#consumed(shown);
  }
}
