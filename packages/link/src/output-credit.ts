/**
 * Counts the output that a client has received. A client that acknowledges has received what the socket has taken and
 * the client has displayed, because browsers buffer input without limit. Any other client has received what the socket
 * has taken.
 */
export class OutputCredit {
  readonly #acknowledges: boolean;
  readonly #received: (bytes: number) => void;
  #sentBytes = 0;
  #takenBytes = 0;
  #acknowledgedBytes = 0;
  #receivedBytes = 0;
  #screenBytes = 0;

  /** `received` is called with each further number of bytes that the client has received. */
  constructor(acknowledges: boolean, received: (bytes: number) => void) {
    this.#acknowledges = acknowledges;
    this.#received = received;
  }

  /** Bytes that were sent and that the client has not received yet. */
  get waitingBytes(): number {
    return this.#sentBytes - this.#receivedBytes;
  }

  /** Reports a screen of this many bytes, sent before all output: it is acknowledged first, but is not output. */
  screen(bytes: number): void {
    if (this.#acknowledges) this.#screenBytes = bytes;
  }

  /** Reports output passed to the socket. */
  send(bytes: number): void {
    this.#sentBytes += bytes;
  }

  /** Reports output that has left this process. */
  taken(bytes: number): void {
    this.#takenBytes += bytes;
    this.#settle();
  }

  /** Reports output that the client has displayed; ignores anything beyond what was sent. */
  acknowledge(bytes: number): void {
    if (!this.#acknowledges || bytes <= 0) return;
    const ofScreen = Math.min(bytes, this.#screenBytes);
    this.#screenBytes -= ofScreen;
    this.#acknowledgedBytes = Math.min(this.#acknowledgedBytes + bytes - ofScreen, this.#sentBytes);
    this.#settle();
  }

  #settle(): void {
    const nowBytes = this.#acknowledges ? Math.min(this.#takenBytes, this.#acknowledgedBytes) : this.#takenBytes;
    const furtherBytes = nowBytes - this.#receivedBytes;
    if (furtherBytes === 0) return;
    this.#receivedBytes = nowBytes;
    this.#received(furtherBytes);
  }
}
