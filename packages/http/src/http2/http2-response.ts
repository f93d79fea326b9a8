import { type OutgoingHttpHeader, type OutgoingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { Writable } from 'node:stream';
import type { Http2Request } from './http2-request.ts';
import type { StreamSocket } from './stream-socket.ts';

/** These describe an HTTP/1 connection; HTTP/2 forbids them (RFC 9113, section 8.2.2), and `TE` in responses. */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** Other names, such as those of pseudo-headers, cannot be trailers (RFC 9110, section 5.6.2). */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** Node.js sends no greater status; an unknown class counts as a server error (RFC 9110, section 15). */
const MAX_STATUS = 599;

type GivenHeaders = OutgoingHttpHeaders | readonly string[];
type Trailers = OutgoingHttpHeaders | readonly (readonly [string, string])[];

/**
 * The response to an HTTP/2 request with the interface of a `ServerResponse`. Headers of HTTP/1 connections and the
 * reason phrase are dropped. `destroy` resets the stream and emits no error, as in HTTP/1.
 */
export class Http2Response extends Writable {
  statusCode = 200;
  statusMessage = '';
  /** Ignored: a listener that leaves tells the whole connection. */
  shouldKeepAlive = true;
  headersSent = false;
  readonly req: Http2Request;
  readonly #stream: ServerHttp2Stream;
  readonly #headers = new Map<string, OutgoingHttpHeader>();
  readonly #trailers = new Map<string, string[]>();
  #isHeadOut = false;
  #hasNoBody = false;
  /** The next chunk is the last one, and can carry the end of the stream. */
  #isLast = false;

  constructor(stream: ServerHttp2Stream, request: Http2Request) {
    super({ highWaterMark: 64 * 1024 });
    this.#stream = stream;
    this.req = request;
    stream.on('error', () => undefined); // `close` follows
    stream.once('aborted', () => this.destroy());
    stream.once('close', () => this.destroy());
    stream.on('timeout', () => {
      const isHandled = [this.emit('timeout'), request.emit('timeout')].includes(true);
      if (!isHandled) this.socket.destroy();
    });
    stream.once('wantTrailers', () => {
      this.#sendOrCut(() => stream.sendTrailers(Object.fromEntries(this.#trailers)));
    });
  }

  get socket(): StreamSocket {
    return this.req.socket;
  }

  get connection(): StreamSocket {
    return this.req.socket;
  }

  get finished(): boolean {
    return this.writableEnded;
  }

  setTimeout(timeoutMs: number, onTimeout?: () => void): this {
    if (onTimeout !== undefined) this.on('timeout', onTimeout);
    this.socket.setTimeout(timeoutMs);
    return this;
  }

  setHeader(name: string, value: OutgoingHttpHeader): this {
    this.#assertHeadOpen();
    validateHeaderName(name);
    for (const each of Array.isArray(value) ? value : [String(value)]) validateHeaderValue(name, each);
    this.#headers.set(name.toLowerCase(), value);
    return this;
  }

  appendHeader(name: string, value: string | readonly string[]): this {
    const before = this.getHeader(name);
    if (before === undefined) return this.setHeader(name, [value].flat());
    return this.setHeader(name, [before, value].flat().map(String));
  }

  getHeader(name: string): OutgoingHttpHeader | undefined {
    return this.#headers.get(name.toLowerCase());
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    this.#assertHeadOpen();
    this.#headers.delete(name.toLowerCase());
  }

  getHeaderNames(): string[] {
    return [...this.#headers.keys()];
  }

  getHeaders(): OutgoingHttpHeaders {
    return Object.fromEntries(this.#headers);
  }

  /** As in HTTP/1, the head goes out with the first bytes of the body, or with `flushHeaders`. */
  writeHead(status: number, reasonOrHeaders?: string | GivenHeaders, given?: GivenHeaders): this {
    this.#assertHeadOpen();
    if (!Number.isInteger(status) || status < 200 || status > 999) throw new RangeError(`invalid status ${status}`);
    this.statusCode = status;
    const headers = typeof reasonOrHeaders === 'string' ? given : (reasonOrHeaders ?? given);
    if (isList(headers)) this.#setList(headers);
    else if (headers !== undefined) {
      for (const [name, value] of Object.entries(headers)) if (value !== undefined) this.setHeader(name, value);
    }
    this.headersSent = true;
    return this;
  }

  flushHeaders(): void {
    if (!this.#isHeadOut && !this.destroyed) this.#sendHead(false);
  }

  writeContinue(done?: () => void): void {
    if (!this.#isHeadOut && !this.socket.destroyed) this.#stream.additionalHeaders({ ':status': 100 });
    done?.();
  }

  addTrailers(trailers: Trailers): void {
    const pairs: Iterable<readonly [string, OutgoingHttpHeader | undefined]> = isPairs(trailers)
      ? trailers
      : Object.entries(trailers);
    for (const [name, value] of pairs) {
      const lower = name.toLowerCase();
      if (value === undefined || OF_CONNECTIONS.has(lower) || !TOKEN.test(name)) continue;
      this.#trailers.set(lower, [this.#trailers.get(lower) ?? [], value].flat().map(String));
    }
  }

  override end(...parts: unknown[]): this {
    const [chunk] = parts;
    const hasChunk = typeof chunk === 'string' || chunk instanceof Uint8Array;
    this.#isLast = hasChunk && this.writableLength === 0 && !this.writableEnded;
    Reflect.apply(super.end, this, parts); // the signatures are those of the base class
    return this;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#pass(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    const last = chunks.length - 1;
    this.#stream.cork();
    for (const [index, { chunk }] of chunks.entries()) this.#pass(chunk, index === last ? done : () => undefined);
    this.#stream.uncork();
  }

  override _final(done: (error?: Error | null) => void): void {
    if (!this.#isHeadOut) this.#sendHead(true);
    if (this.#hasNoBody || this.#isLast) done();
    else this.#stream.end(this.#whenSent(done));
  }

  override _destroy(_error: Error | null, done: (error?: Error | null) => void): void {
    // A client must not take what it received so far for the whole response.
    if (!this.writableFinished) this.socket.destroy();
    done();
  }

  #pass(chunk: Buffer, done: (error?: Error | null) => void): void {
    if (!this.#isHeadOut) this.#sendHead(false);
    if (this.#hasNoBody) done();
    else if (this.#isLast) this.#stream.end(chunk, this.#whenSent(done));
    else this.#stream.write(chunk, this.#whenSent(done));
  }

  /** If the client left, `close` comes before the error, so that the response looks closed, not failed, as in HTTP/1. */
  #whenSent(done: (error?: Error | null) => void): (error?: Error | null) => void {
    return (error) => {
      if (error === undefined || error === null) {
        done();
        return;
      }
      const fail = (): void => void setImmediate(() => done(error)); // after all listeners of `close`
      this.destroy();
      if (this.closed) fail();
      else this.once('close', fail);
    };
  }

  #sendHead(isEnd: boolean): void {
    this.headersSent = true;
    this.#isHeadOut = true;
    const { statusCode, req } = this;
    const status = Math.min(statusCode, 999) > MAX_STATUS ? 500 : statusCode;
    this.#hasNoBody = isEnd || req.method === 'HEAD' || status === 204 || status === 205 || status === 304;
    if (this.socket.destroyed) {
      this.#hasNoBody = true; // the client is gone: drop the rest
      return;
    }
    const head: OutgoingHttpHeaders = { ':status': status };
    for (const [name, value] of this.#headers) {
      if (!OF_CONNECTIONS.has(name) && !(name === 'content-length' && status === 204)) head[name] = value;
    }
    const waitForTrailers = !this.#hasNoBody && this.#mayTrail();
    this.#sendOrCut(() => this.#stream.respond(head, { endStream: this.#hasNoBody, waitForTrailers }));
  }

  /** Most callers are events or timers, where an error would end the process: resets the stream instead. */
  #sendOrCut(send: () => void): void {
    if (this.socket.destroyed) return;
    try {
      send();
    } catch (error) {
      this.#hasNoBody = true; // drop the rest
      this.#stream.destroy(error instanceof Error ? error : undefined);
    }
  }

  /** Waiting for trailers costs a frame, so wait only if there are some, or may be some for a client that reads them. */
  #mayTrail(): boolean {
    if (this.#isLast) return this.#trailers.size > 0;
    return this.hasHeader('trailer') || /\btrailers\b/i.test(String(this.req.headers.te ?? ''));
  }

  #setList(list: readonly string[]): void {
    const seen = new Set<string>();
    for (let index = 0; index + 1 < list.length; index += 2) {
      const name = list[index] ?? '';
      const value = list[index + 1] ?? '';
      if (seen.has(name.toLowerCase())) this.appendHeader(name, value);
      else this.setHeader(name, value);
      seen.add(name.toLowerCase());
    }
  }

  #assertHeadOpen(): void {
    if (!this.headersSent) return;
    throw Object.assign(new Error('the head of the response was written before'), { code: 'ERR_HTTP_HEADERS_SENT' });
  }
}

function isList(headers: GivenHeaders | undefined): headers is readonly string[] {
  return Array.isArray(headers);
}

function isPairs(trailers: Trailers): trailers is readonly (readonly [string, string])[] {
  return Array.isArray(trailers);
}
