import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream, ServerSessionOptions } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { toAppError } from '@svc/errors';
import { createShares, type ConnectionSharesOptions } from '../connection-shares.ts';
import type { ListenerLimits } from '../listener-limits.ts';
import type { ErrorRenderer } from '../renderers.ts';
import { resolveRequestId } from '../request-id.ts';
import { Http2Request } from './http2-request.ts';
import { Http2Response } from './http2-response.ts';
import { toHttp1Head } from './request-head.ts';
import { StreamSocket } from './stream-socket.ts';

/** What a client may send before a handler reads it: per stream, and on all streams of a connection. */
const STREAM_WINDOW_BYTES = 256 * 1024;
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** Node.js keeps one object per unread frame, which is much larger than a small frame. */
const SMALL_FRAME_BYTES = 256;
const MAX_UNREAD_SMALL_FRAMES = 4096;
/** Most bytes of memory for a byte that waits to be read; what takes more is copied. */
const KEPT_PER_BYTE = 4;
/** Node.js reopens this window whether or not a handler reads. */
const CONNECTION_WINDOW_BYTES = 2 * 1024 * 1024;
/** Memory of one connection for frames and queued output; beyond it, new streams are refused. */
const MAX_SESSION_MEMORY_MB = 16;
/** Refused or invalid, a client gets this many of each before its connection ends. */
const MAX_REJECTED_STREAMS = 100;
const MAX_INVALID_FRAMES = 100;
/** Streams reset by a client or for its faults (CVE-2023-44487, CVE-2025-8671): so many at once, and so many a second. */
const RESET_BURST = 500;
const RESETS_PER_SECOND = 50;
/** Time for a client to read that a connection ends, and to close its side then. */
const FAREWELL_MS = 1_000;
/** Detects dead peers of streams that may be silent. */
const KEEP_ALIVE_MS = 30_000;
/** How much of an unwanted body is still read, so that a client that is still sending can read its response. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 2_000;
/** No stream id is greater: this GOAWAY announces the end, and still accepts what is under way (RFC 9113, 6.8). */
const LAST_STREAM_ID = 2 ** 31 - 1;
/** Error codes (RFC 9113, 7). */
const NO_ERROR = 0;
const REFUSED_STREAM = 7;
const ENHANCE_YOUR_CALM = 11;

/** Options of the HTTP/2 connections of a listener. */
export interface Http2SessionsOptions {
  readonly limits: ListenerLimits;
  /** How clients share the requests in progress: as many as there may be connections. */
  readonly shares: ConnectionSharesOptions;
  readonly onRequest: (request: Http2Request, response: Http2Response) => void;
  readonly renderError: ErrorRenderer;
}

interface Connection {
  readonly session: ServerHttp2Session;
  readonly socket: TLSSocket;
  readonly streams: Set<ServerHttp2Stream>;
  /** At least as much as is unread. */
  unreadBytes: number;
  unreadSmallFrames: number;
  idle: NodeJS.Timeout | undefined;
  isTold: boolean;
}

/** The HTTP/2 connections of a listener. Each stream becomes a request and a response as handlers know them. */
export class Http2Sessions {
  readonly #options: Http2SessionsOptions;
  readonly #sessionOptions: ServerSessionOptions;
  readonly #takeShare: ReturnType<typeof createShares>;
  readonly #connections = new Map<TLSSocket, Connection>();
  #isLeaving = false;

  constructor(options: Http2SessionsOptions) {
    this.#options = options;
    const { maxStreamsPerConnection, maxHeaderSizeBytes, maxConnections } = options.limits;
    this.#takeShare = createShares(maxConnections, options.shares);
    this.#sessionOptions = {
      settings: {
        maxConcurrentStreams: maxStreamsPerConnection,
        maxHeaderListSize: maxHeaderSizeBytes,
        initialWindowSize: STREAM_WINDOW_BYTES,
      },
      maxSessionMemory: MAX_SESSION_MEMORY_MB,
      maxSessionRejectedStreams: MAX_REJECTED_STREAMS,
      maxSessionInvalidFrames: MAX_INVALID_FRAMES,
      streamResetBurst: RESET_BURST,
      streamResetRate: RESETS_PER_SECOND,
      strictSingleValueFields: false, // programs behind a relay repeat headers; HTTP/1 clients get them all
    };
  }

  has(socket: unknown): boolean {
    return this.#connections.has(socket as TLSSocket); // any key may be asked for
  }

  /** Takes over a socket that negotiated `h2`. */
  begin(socket: TLSSocket): void {
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.allowHalfOpen = false; // the server of HTTP/1 lets clients close their side first
    // Loaded with the first connection: it takes a megabyte, which a platform without TLS does not need.
    const session = process.getBuiltinModule('node:http2').performServerHandshake(socket, this.#sessionOptions);
    const connection: Connection = {
      session,
      socket,
      streams: new Set(),
      unreadBytes: 0,
      unreadSmallFrames: 0,
      idle: undefined,
      isTold: false,
    };
    this.#connections.set(socket, connection);
    const { headersTimeoutMs } = this.#options.limits;
    session.on('error', () => undefined); // the connection is closed then
    session.once('connect', () => {
      if (!session.destroyed) session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    });
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags, raw: string[]) =>
      this.#begin(connection, stream, headers, raw),
    );
    this.#endWhenIdle(connection, headersTimeoutMs);
    socket.once('close', () => {
      clearTimeout(connection.idle);
      this.#connections.delete(socket);
    });
  }

  /**
   * Asks clients to connect elsewhere, and closes each connection with its last stream. What they send until they have
   * read it is served, or refused as not processed, so that they repeat it.
   */
  announceClose(): void {
    this.#isLeaving = true;
    for (const connection of this.#connections.values()) announceEnd(connection);
  }

  #begin(
    connection: Connection,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    raw: readonly string[],
  ): void {
    clearTimeout(connection.idle);
    connection.streams.add(stream);
    stream.once('close', () => {
      connection.streams.delete(stream);
      if (connection.streams.size > 0) return;
      if (connection.isTold || connection.session.closed) end(connection);
      else this.#endWhenIdle(connection, this.#options.limits.keepAliveTimeoutMs);
    });
    if (this.#isLeaving) announceEnd(connection);
    if (!this.#admits(connection, stream)) return;
    boundUnread(connection, stream);
    stream.setTimeout(this.#options.limits.idleTimeoutMs);
    this.#serve(connection, stream, headers, raw);
  }

  /** Refuses a stream beyond the share of its address or network: its client may repeat the request. */
  #admits({ socket }: Connection, stream: ServerHttp2Stream): boolean {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return true; // closed already
    const { refusal, release } = this.#takeShare(remoteAddress);
    if (refusal === null) {
      stream.once('close', release);
      return true;
    }
    this.#options.shares.onRefused?.({ ...refusal, remoteAddress });
    stream.on('error', () => undefined); // tells the code of the reset
    stream.close(REFUSED_STREAM);
    return false;
  }

  #serve(
    { socket }: Connection,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    raw: readonly string[],
  ): void {
    const streamSocket = new StreamSocket(stream, socket);
    try {
      const head = toHttp1Head(headers, raw, { hasBody: !stream.endAfterHeaders });
      const request = new Http2Request(stream, head, streamSocket);
      const response = new Http2Response(stream, request);
      discardRest(stream, request, response);
      this.#options.onRequest(request, response);
    } catch (error) {
      this.#refuse(stream, streamSocket, error);
    }
  }

  #refuse(stream: ServerHttp2Stream, socket: StreamSocket, raw: unknown): void {
    const error = toAppError(raw);
    const requestId = resolveRequestId({});
    const request = new Http2Request(stream, { method: 'GET', url: '/', headers: {}, rawHeaders: [] }, socket);
    const response = new Http2Response(stream, request);
    discardRest(stream, request, response);
    response.writeHead(error.status, {
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': requestId,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    response.end(JSON.stringify(this.#options.renderError(error, requestId)));
  }

  #endWhenIdle(connection: Connection, timeoutMs: number): void {
    clearTimeout(connection.idle);
    connection.idle = setTimeout(() => end(connection), timeoutMs);
  }
}

/**
 * Limits unread bodies. Node.js passes each DATA frame to `push`, which keeps it until it is read. Resets a stream that
 * exceeds the limit of its connection, and ends a connection that sends many small frames.
 */
function boundUnread(connection: Connection, stream: ServerHttp2Stream): void {
  if (stream.endAfterHeaders) return;
  const push = stream.push.bind(stream);
  let smallFrames = 0;
  const readSmallFrames = (): void => {
    connection.unreadSmallFrames -= smallFrames;
    smallFrames = 0;
  };
  stream.once('close', readSmallFrames);
  stream.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    if (chunk === null || stream.destroyed) return push(chunk, encoding);
    if (stream.readableLength === 0) readSmallFrames();
    else if (chunk.length < SMALL_FRAME_BYTES) {
      smallFrames += 1;
      connection.unreadSmallFrames += 1;
    }
    const isReadNow = stream.readableFlowing === true && stream.readableLength === 0;
    const wantsMore = push(isReadNow ? chunk : withoutSurroundings(chunk), encoding);
    connection.unreadBytes += chunk.length;
    if (connection.unreadSmallFrames > MAX_UNREAD_SMALL_FRAMES)
      connection.session.destroy(new Error('too many small frames'), ENHANCE_YOUR_CALM);
    else if (hasTooMuchUnread(connection)) {
      stream.close(ENHANCE_YOUR_CALM);
      stream.destroy();
    }
    return wantsMore;
  };
}

/** A frame is a slice of all that was read from the network at once, which it would keep in memory while it waits. */
function withoutSurroundings(chunk: Buffer): Buffer {
  if (chunk.length * KEPT_PER_BYTE >= chunk.buffer.byteLength) return chunk;
  const own = Buffer.allocUnsafeSlow(chunk.length); // a slice of the pool would keep the pool
  chunk.copy(own);
  return own;
}

function hasTooMuchUnread(connection: Connection): boolean {
  if (connection.unreadBytes <= MAX_UNREAD_BYTES) return false;
  connection.unreadBytes = 0;
  for (const { readableLength } of connection.streams) connection.unreadBytes += readableLength;
  return connection.unreadBytes > MAX_UNREAD_BYTES;
}

/** Ends an idle connection. Asks the client of a busy one to open no streams, and refuses them once it has read that. */
function announceEnd(connection: Connection): void {
  const { session, socket } = connection;
  if (connection.isTold || session.closed || session.destroyed) return;
  connection.isTold = true;
  if (connection.streams.size === 0) {
    end(connection);
    return;
  }
  session.goaway(NO_ERROR, LAST_STREAM_ID);
  const close = (): void => {
    clearTimeout(patience);
    if (!session.destroyed) session.close();
  };
  const patience = setTimeout(close, FAREWELL_MS);
  socket.once('close', () => clearTimeout(patience));
  session.ping(close);
}

/** Sends GOAWAY and closes; a client that keeps its side open is cut. */
function end({ session, socket }: Connection): void {
  if (!session.destroyed) session.close();
  const cut = setTimeout(() => socket.destroy(), FAREWELL_MS);
  socket.once('close', () => clearTimeout(cut));
}

/**
 * After a response that did not wait for the whole body, reads the rest for a while, then asks the client to stop: RST_STREAM
 * with NO_ERROR leaves the response valid (RFC 9113, section 8.1).
 */
function discardRest(stream: ServerHttp2Stream, request: Http2Request, response: Http2Response): void {
  response.once('finish', () => {
    if (request.complete || stream.closed) return;
    const stop = (): void => {
      clearTimeout(timer);
      if (!stream.closed) stream.close(NO_ERROR);
      stream.destroy(); // the reset is on its way; a paused stream would wait for its reader
    };
    let leftBytes = LINGER_BYTES;
    const onData = (chunk: Buffer): void => {
      leftBytes -= chunk.length;
      if (leftBytes < 0) stop();
    };
    const timer = setTimeout(stop, LINGER_MS);
    stream.once('close', () => clearTimeout(timer));
    request.unpipe(); // a relay that ends would pause the request again
    request.resume();
    stream.on('data', onData);
  });
}
