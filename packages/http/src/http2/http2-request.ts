import type { IncomingHttpHeaders } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { Readable } from 'node:stream';
import type { StreamSocket } from './stream-socket.ts';

/** The head of an HTTP/2 request, in terms of HTTP/1. */
export interface RequestHead {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: string[];
}

/**
 * An HTTP/2 request with the interface of an `IncomingMessage`, so that handlers serve both versions. In contrast to
 * Node's own compatibility layer, a request whose client left ends with an error and stays incomplete: a partial upload
 * never looks whole.
 */
export class Http2Request extends Readable {
  readonly httpVersion = '2.0';
  readonly httpVersionMajor = 2;
  readonly httpVersionMinor = 0;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: string[];
  readonly trailers: Record<string, string> = {};
  readonly rawTrailers: string[] = [];
  readonly socket: StreamSocket;
  /** The whole body has been received. */
  complete = false;
  aborted = false;
  readonly #stream: ServerHttp2Stream;
  #isReading = false;

  constructor(stream: ServerHttp2Stream, head: RequestHead, socket: StreamSocket) {
    super();
    this.#stream = stream;
    this.method = head.method;
    this.url = head.url;
    this.headers = head.headers;
    this.rawHeaders = head.rawHeaders;
    this.socket = socket;
    stream.once('aborted', () => this.#leave());
    stream.once('close', () => this.#leave());
    if (!stream.endAfterHeaders) return;
    this.complete = true;
    this.push(null);
  }

  get connection(): StreamSocket {
    return this.socket;
  }

  setTimeout(timeoutMs: number, onTimeout?: () => void): this {
    if (onTimeout !== undefined) this.on('timeout', onTimeout);
    this.socket.setTimeout(timeoutMs);
    return this;
  }

  /** The body is requested from the client only when it is first read. */
  override _read(): void {
    if (this.#isReading) {
      this.#stream.resume();
      return;
    }
    this.#isReading = true;
    this.#stream.on('data', (chunk: Buffer) => {
      this.socket.received(chunk.length);
      if (!this.push(chunk)) this.#stream.pause();
    });
    this.#stream.once('trailers', (trailers: Record<string, string>, _flags: number, raw: readonly string[] = []) => {
      for (const [name, value] of Object.entries(trailers)) this.trailers[name] = value;
      this.rawTrailers.push(...raw);
    });
    this.#stream.once('end', () => this.#end());
  }

  /** Resets the stream unless the body is complete. As in HTTP/1, the error is emitted only if somebody listens. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.complete && !this.aborted) {
      this.aborted = true;
      this.emit('aborted');
      this.socket.destroy();
    }
    process.nextTick(() => done(this.listenerCount('error') > 0 ? error : null));
  }

  #end(): void {
    // A reset ends the body too.
    if (this.#stream.aborted || !this.#hasAnnouncedLength()) {
      this.#leave();
      return;
    }
    this.complete = true;
    this.push(null);
  }

  #hasAnnouncedLength(): boolean {
    const announced = this.headers['content-length'];
    return announced === undefined || Number(announced) === this.socket.bytesRead;
  }

  #leave(): void {
    if (this.complete || this.destroyed) return;
    this.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
  }
}
