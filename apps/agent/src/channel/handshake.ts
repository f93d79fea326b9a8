import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { limitHandshake } from '@svc/link';
import { PROTOCOL_HEADER } from '@svc/protocol';
import { REDACTED, redactText } from '@svc/telemetry';
import { WebSocket, type ClientOptions } from 'ws';

export interface HandshakeOptions {
  url: string;
  headers: Record<string, string>;
  client: ClientOptions;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface Handshake {
  socket: WebSocket;
  /** The platform has announced a welcome. */
  announced: boolean;
}

/** Why connecting failed: the HTTP response if there was one, else the network or certificate error. */
export class HandshakeError extends Error {
  /** 0 without a response. */
  readonly status: number;
  readonly retryAfterSeconds: number | null;
  readonly kind: string;

  constructor(message: string, kind: string, status = 0, retryAfterSeconds: number | null = null, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = 'HandshakeError';
    this.kind = kind;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const MAX_BODY_BYTES = 2048;
const LONGEST_RETRY_AFTER_SECONDS = 3600;

/**
 * Resolves with an open connection, or rejects with a `HandshakeError` carrying the status and message of the refusal.
 */
export function shakeHands(options: HandshakeOptions): Promise<Handshake> {
  const { url, headers, client, timeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { ...client, headers, perMessageDeflate: false });
    const abort = (): void => socket.terminate();
    const limit = limitHandshake(socket, timeoutMs);
    const settle = (action: () => void): void => {
      limit.release();
      signal.removeEventListener('abort', abort);
      action();
    };
    signal.addEventListener('abort', abort, { once: true });
    let announced = false;
    socket.once('upgrade', ({ headers: answered }: IncomingMessage) => {
      announced = answered[PROTOCOL_HEADER] !== undefined;
    });
    socket.once('open', () => settle(() => resolve({ socket, announced })));
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      readRefusal(response, headers['authorization']).then(
        (error) => settle(() => reject(error)),
        (error: unknown) => settle(() => reject(error instanceof Error ? error : new Error(String(error)))),
      );
    });
    // Stays after the handshake as well: an unhandled `error` would end the process; `close` follows it.
    socket.on('error', (cause) => {
      const explained = limit.explain(cause);
      settle(() => reject(new HandshakeError(explained.message, kindOfFailure(explained), 0, null, explained)));
    });
    if (signal.aborted) abort();
  });
}

async function readRefusal(response: IncomingMessage, credentials = ''): Promise<HandshakeError> {
  const status = response.statusCode ?? 0;
  const words = redactText(withoutToken(await firstBytes(response), credentials))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 512);
  return new HandshakeError(
    `the platform answered ${status}: ${words}`,
    kindOfStatus(status),
    status,
    parseRetryAfter(response.headers),
  );
}

/** Error pages may echo the request, and another platform's token has no known prefix to redact by. */
function withoutToken(words: string, credentials: string): string {
  const token = credentials.replace(/^Bearer /, '');
  return token === '' ? words : words.replaceAll(token, REDACTED);
}

/** Seconds, or a date as sent by proxies and maintenance pages (RFC 9110, 10.2.3), compared with the sender's clock. */
function parseRetryAfter({ 'retry-after': told = '', date }: IncomingHttpHeaders): number | null {
  const now = date === undefined ? Date.now() : Date.parse(date);
  const seconds = /^\d+$/.test(told) ? Number(told) : Math.ceil((Date.parse(told) - now) / 1000);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(0, seconds), LONGEST_RETRY_AFTER_SECONDS);
}

async function firstBytes(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      sizeBytes += chunk.length;
      if (sizeBytes >= MAX_BODY_BYTES) break;
    }
  } catch {
    // the status is enough
  } finally {
    response.destroy();
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_BODY_BYTES);
}

/** One-word reason for a refusal, as counted by `svc_api_errors_total`. */
export function kindOfStatus(status: number): string {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'server' : 'connection';
}

/** One-word reason for a missing response. */
export function kindOfFailure(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  if (code.startsWith('ERR_TLS') || code.includes('CERT') || code.includes('SELF_SIGNED')) return 'tls';
  return code === 'ETIMEDOUT' ? 'timeout' : 'connection';
}
