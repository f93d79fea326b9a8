import type { ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';

/**
 * The socket of an HTTP/2 request as handlers know it from HTTP/1. What they do to it concerns their own stream: the
 * other streams of the connection live on.
 */
export class StreamSocket {
  readonly encrypted = true;
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly #stream: ServerHttp2Stream;
  #receivedBytes = 0;

  constructor(
    stream: ServerHttp2Stream,
    { remoteAddress, remotePort }: Pick<TLSSocket, 'remoteAddress' | 'remotePort'>,
  ) {
    this.#stream = stream;
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }

  get destroyed(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  /** Bytes of the request's body that were read so far. */
  get bytesRead(): number {
    return this.#receivedBytes;
  }

  received(sizeBytes: number): void {
    this.#receivedBytes += sizeBytes;
  }

  /** What `setTimeout` set last. */
  get timeout(): number | undefined {
    return (this.#stream as { timeout?: number }).timeout; // as of any stream with a timeout, but not in the types
  }

  /** Time without traffic in either direction until the stream is reset; 0 = none. */
  setTimeout(timeoutMs: number): this {
    if (!this.destroyed) this.#stream.setTimeout(timeoutMs);
    return this;
  }

  /** Does nothing: keepalive is set once, for the connection. */
  setKeepAlive(): this {
    return this;
  }

  /**
   * Resets the stream with INTERNAL_ERROR. Not with `close`, which ends the body before it resets the stream: a client
   * would take a part for the whole.
   */
  destroy(): this {
    if (!this.destroyed) this.#stream.destroy(new Error('the stream was cut'));
    return this;
  }

  /** Does nothing: a stream ends with its response. */
  destroySoon(): void {}
}
