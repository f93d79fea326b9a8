import { Readable, type Writable } from 'node:stream';

/** A transfer that writes itself to a stream and reports its end. */
export interface Transfer {
  /** Rejects if the transfer is incomplete. */
  writeTo(to: Writable): Promise<void>;
  close(): void;
}

/**
 * A transfer as a response body. It can only be piped: bytes go from their receive buffer directly to the socket, and
 * the buffer is reused once the socket has taken them. An intermediate stream with buffers of its own could not report
 * that.
 */
export class TransferBody extends Readable {
  readonly #transfer: Transfer;

  constructor(transfer: Transfer) {
    super();
    this.#transfer = transfer;
  }

  override pipe<T extends NodeJS.WritableStream>(to: T): T {
    this.#transfer.writeTo(to as unknown as Writable).then(
      () => {
        this.push(null);
        this.resume(); // so that it ends
        to.end();
      },
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
    return to;
  }

  override _read(): void {
    // output is delivered by `pipe`
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#transfer.close();
    done(error);
  }
}
