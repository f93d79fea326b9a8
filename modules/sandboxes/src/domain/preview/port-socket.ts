import { Duplex } from 'node:stream';
import type { HelperConnection } from '../helper/helper-connection.ts';
import type { HelperStream } from '../helper/helper-stream.ts';
import { ReceivedBytes } from '../helper/received-bytes.ts';
import { sandboxErrors } from '../../errors.ts';

/**
 * A connection to a port inside a sandbox, dialed by the helper. Backpressure reaches the program, in both directions.
 */
export class PortSocket extends Duplex {
  readonly #stream: HelperStream;
  readonly #incoming: ReceivedBytes;
  #wanted: (() => void) | null = null;

  private constructor(stream: HelperStream, incoming: ReceivedBytes) {
    super();
    this.#stream = stream;
    this.#incoming = incoming;
    this.#pump().catch((error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))));
  }

  /** Throws PORT_UNREACHABLE with the reason, also when the signal aborts: the client left. */
  static async open(connection: HelperConnection, port: number, signal: AbortSignal): Promise<PortSocket> {
    const left = (): Error => sandboxErrors.PORT_UNREACHABLE({ details: { port, reason: 'the client left' } });
    if (signal.aborted) throw left();
    const incoming = new ReceivedBytes();
    const connected = Promise.withResolvers<void>();
    const stream = connection.start(
      { op: 'port.dial', port },
      {
        data: (bytes) => incoming.push(bytes),
        event: ({ type }) => {
          if (type === 'eof') incoming.end();
          connected.resolve();
        },
      },
    );
    void stream.outcome.then(() => {
      incoming.end();
      connected.resolve();
    });
    signal.addEventListener('abort', () => connected.resolve(), { once: true });
    await connected.promise;
    if (signal.aborted) {
      stream.abandon(); // the helper may not even answer that
      throw left();
    }
    if (stream.ended) {
      const outcome = await stream.outcome;
      if (!outcome.ok) throw sandboxErrors.PORT_UNREACHABLE({ details: { port, reason: outcome.message } });
    }
    return new PortSocket(stream, incoming);
  }

  override _read(): void {
    this.#wanted?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // `#pass` never rejects; it reports whether the program still accepts data.
    void this.#pass(chunk, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#stream.finishInput();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stream.abandon();
    this.#wanted?.();
    done(error);
  }

  async #pass(chunk: Buffer, done: (error?: Error | null) => void): Promise<void> {
    const taken = await this.#stream.write(chunk);
    done(taken ? null : new Error('the program closed the connection'));
  }

  async #pump(): Promise<void> {
    while (!this.destroyed) {
      const chunk = await this.#incoming.next();
      if (chunk === null) {
        this.push(null);
        return;
      }
      const goOn = this.push(chunk);
      this.#stream.consumed(chunk.length);
      if (!goOn) await new Promise<void>((resolve) => (this.#wanted = resolve));
    }
  }
}
