import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { DialTimeout, limitHandshake } from '@svc/link';
import { WebSocket } from 'ws';
import { duplexTransport } from './duplex-transport.ts';
import { messageTransport } from './message-transport.ts';
import type { MuxTransport } from './transport.ts';
import { MUX_MESSAGE_BYTES, MUX_SUBPROTOCOL, MUX_UPGRADE } from './upgrade-names.ts';

/** Where and how to dial a session. */
export interface MuxDialOptions {
  /** `http:` or `https:`. */
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** TLS options, or the `agent` for a proxy. */
  connection?: RequestOptions;
  /** For each of the two attempts. */
  timeoutMs: number;
  signal: AbortSignal;
  /** `websocket` skips the first attempt where it is known to fail. */
  prefer?: 'raw' | 'websocket';
}

/** A failed dial: the response if there was one, otherwise the network or certificate error. */
export class MuxDialError extends Error {
  /** 0 if there was no response. */
  readonly status: number;
  /** The first kilobytes of the response body. */
  readonly body: string;
  readonly retryAfterSeconds: number | null;

  constructor(message: string, options: { response?: IncomingMessage; body?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'MuxDialError';
    this.status = options.response?.statusCode ?? 0;
    this.body = options.body ?? '';
    const seconds = Number(options.response?.headers['retry-after'] ?? Number.NaN);
    this.retryAfterSeconds = Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3600) : null;
  }
}

const MAX_BODY_BYTES = 2048;
/** Responses of the server itself: the other method would get the same. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 429, 503]);
/** Ways in which a proxy that does not know the protocol hangs up. */
const PROXY_FAULTS: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_CONSTANT']);

/**
 * Tries `Upgrade: svc-mux/1`, which has no per-message cost, then a WebSocket if something in between refuses that.
 */
export async function dialMux(
  options: MuxDialOptions,
): Promise<{ transport: MuxTransport; kind: 'raw' | 'websocket' }> {
  if (options.prefer !== 'websocket') {
    try {
      return { transport: await dialRaw(options), kind: 'raw' };
    } catch (error) {
      if (options.signal.aborted || !mayBeProxy(error)) throw error;
    }
  }
  return { transport: await dialWebSocket(options), kind: 'websocket' };
}

function mayBeProxy(error: unknown): boolean {
  if (!(error instanceof MuxDialError)) return false;
  if (error.status !== 0) return !FINAL_STATUSES.has(error.status);
  const { cause } = error;
  return cause instanceof Error && 'code' in cause && PROXY_FAULTS.has(String(cause.code));
}

function dialRaw({ url, headers, connection, timeoutMs, signal }: MuxDialOptions): Promise<MuxTransport> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const outgoing = send(url, {
      agent: false,
      ...connection,
      headers: { ...headers, connection: 'Upgrade', upgrade: MUX_UPGRADE },
      signal,
    });
    const timer = setTimeout(() => outgoing.destroy(new DialTimeout('the upgrade', timeoutMs)), timeoutMs);
    outgoing.once('upgrade', (response, socket, head) => {
      clearTimeout(timer);
      if (response.headers.upgrade?.toLowerCase() === MUX_UPGRADE) {
        resolve(duplexTransport(socket, head));
        return;
      }
      socket.destroy();
      reject(new MuxDialError('another protocol was chosen', { response }));
    });
    outgoing.once('response', (response) => {
      void readRefusal(response).then((error) => {
        clearTimeout(timer);
        outgoing.destroy();
        reject(error);
      });
    });
    outgoing.on('error', (cause) => {
      clearTimeout(timer);
      reject(new MuxDialError(cause.message, { cause }));
    });
    outgoing.end();
  });
}

function dialWebSocket({ url, headers, connection, timeoutMs, signal }: MuxDialOptions): Promise<MuxTransport> {
  return new Promise((resolve, reject) => {
    const address = new URL(url);
    address.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(address, MUX_SUBPROTOCOL, {
      ...connection,
      headers: { ...headers },
      perMessageDeflate: false,
      maxPayload: MUX_MESSAGE_BYTES,
      followRedirects: false,
    });
    const abort = (): void => socket.terminate();
    signal.addEventListener('abort', abort, { once: true });
    const limit = limitHandshake(socket, timeoutMs);
    const settled = (): void => {
      limit.release();
      signal.removeEventListener('abort', abort);
    };
    socket.once('open', () => {
      settled();
      resolve(messageTransport(socket));
    });
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      void readRefusal(response).then((error) => {
        settled();
        reject(error);
      });
    });
    // Keep this listener: an unhandled `error` would crash the process; `close` follows it.
    socket.on('error', (cause) => {
      settled();
      const explained = limit.explain(cause);
      reject(new MuxDialError(explained.message, { cause: explained }));
    });
    if (signal.aborted) abort();
  });
}

async function readRefusal(response: IncomingMessage): Promise<MuxDialError> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes >= MAX_BODY_BYTES) break;
    }
  } catch {
    // the status alone says enough
  } finally {
    response.destroy();
  }
  const body = Buffer.concat(chunks).toString('utf8', 0, MAX_BODY_BYTES);
  return new MuxDialError(`the answer was ${response.statusCode}`, { response, body });
}
