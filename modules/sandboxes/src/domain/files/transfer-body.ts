import { Readable, type Writable } from 'node:stream';

/** Something that writes itself out and says when it is over. */
export interface Transfer {
  /** Rejects where not all of it could be had. */
  writeTo(to: Writable): Promise<void>;
  close(): void;
}

/**
 * A transfer as the body of an answer. It is only piped: its bytes go from the buffer that they arrived in to the socket, and
 * the buffer is used again when the socket has taken them, which the buffers of a stream between the two could not tell.
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
    // what is piped comes by `pipe`
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#transfer.close();
    done(error);
  }
}
