import { isAppError } from '@svc/errors';
import type { CommandOutput } from '@svc/protocol';

export interface OutputWindowOptions {
  /** Rejects if the connection ends first or there is none. */
  send(output: CommandOutput): Promise<void>;
  /** Resolves when there is a connection again; rejects when the signal aborts. */
  connected(signal: AbortSignal): Promise<void>;
  /** True if this connection's platform acknowledges output. Otherwise, sent output counts as stored. */
  acknowledges(): boolean;
  signal: AbortSignal;
  maxWaiting: number;
}

/**
 * Outgoing output, in order. A sent frame may still be lost with the connection, so each piece is kept until the
 * platform acknowledges it, and is resent with the same sequence over the next connection.
 */
export class OutputWindow {
  readonly #options: OutputWindowOptions;
  readonly #pieces: CommandOutput[] = [];
  /** Number of pieces sent over this connection. */
  #sent = 0;
  #waiting = 0;
  #pumping = false;
  /** Counts connections, to ignore the outcome of sends on earlier ones. */
  #connection = 0;
  #failure: unknown = undefined;
  #changed = Promise.withResolvers<void>();

  constructor(options: OutputWindowOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /** Resolves when there is room for another piece; rejects if it can never be sent. */
  async add(output: CommandOutput): Promise<void> {
    const { signal, maxWaiting } = this.#options;
    if (this.#failure !== undefined) throw this.#failure;
    this.#pieces.push(output);
    this.#waiting += output.data.length;
    this.#pump();
    // Wait until it is sent, so that an offline platform holds the source back. A cancelled command need not wait for
    // room.
    const left = (): boolean => !this.#pieces.includes(output, this.#sent);
    await this.#until(() => left() && (this.#waiting <= maxWaiting || signal.aborted));
  }

  /** Resends everything that is not stored over a new connection. */
  reconnected(): void {
    this.#connection += 1;
    this.#sent = 0;
    this.#pump();
  }

  /** The platform has everything up to this sequence. */
  stored(seq: number): void {
    while ((this.#pieces[0]?.seq ?? Number.POSITIVE_INFINITY) <= seq) this.#forgetFirst();
    this.#wake();
  }

  /** Resolves when the platform has all of it, or never will. */
  async settled(): Promise<void> {
    await this.#until(() => this.#pieces.length === 0 || this.#options.signal.aborted).catch(() => undefined);
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    this.#sendAll()
      .catch((error: unknown) => {
        this.#failure = error;
        this.#pieces.length = 0;
      })
      .finally(() => {
        this.#pumping = false;
        this.#wake();
      });
  }

  async #sendAll(): Promise<void> {
    const { send, connected, acknowledges, signal } = this.#options;
    for (let piece = this.#pieces[this.#sent]; piece !== undefined; piece = this.#pieces[this.#sent]) {
      const connection = this.#connection;
      try {
        await send(piece);
      } catch (error) {
        if (isAppError(error) && error.code === 'FRAME_TOO_LARGE') throw error;
        await connected(signal);
        continue;
      }
      if (connection !== this.#connection || this.#pieces[this.#sent] !== piece) continue;
      if (acknowledges()) this.#sent += 1;
      else this.#forgetFirst();
      this.#wake();
    }
  }

  #forgetFirst(): void {
    const first = this.#pieces.shift();
    this.#waiting -= first?.data.length ?? 0;
    this.#sent = Math.max(0, this.#sent - 1);
  }

  async #until(holds: () => boolean): Promise<void> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      if (holds()) return;
      await this.#changed.promise;
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
