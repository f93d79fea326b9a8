/**
 * When output counts as received. A client that acknowledges is sent no more than it has shown: browsers take in what
 * arrives without end, however slowly they show it. For others it counts once the socket has taken it.
 */
export class OutputCredit {
  readonly #acknowledges: boolean;
  readonly #consumed: (bytes: number) => void;
  #outstandingBytes = 0;
  /** Acknowledged like output, first of all, and no output of the process. */
  #screenBytes = 0;

  constructor(acknowledges: boolean, consumed: (bytes: number) => void) {
    this.#acknowledges = acknowledges;
    this.#consumed = consumed;
  }

  /** A screen of so many bytes goes before all output. */
  shown(bytes: number): void {
    if (this.#acknowledges) this.#screenBytes = bytes;
  }

  /** The socket has taken so much. */
  sent(bytes: number): void {
    if (this.#acknowledges) this.#outstandingBytes += bytes;
    else this.#consumed(bytes);
  }

  /** The client has shown so much; more than it was sent is not believed. */
  acknowledged(bytes: number): void {
    const ofScreen = Math.min(bytes, this.#screenBytes);
    this.#screenBytes -= ofScreen;
    const shown = Math.min(bytes - ofScreen, this.#outstandingBytes);
    this.#outstandingBytes -= shown;
    if (shown > 0) this.#consumed(shown);
  }
}
