import type { IncomingMessage } from 'node:http';
import { PROTOCOL_HEADER } from '@svc/protocol';
import { redactText } from '@svc/telemetry';
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
  /** The platform said that it will say welcome. */
  announced: boolean;
}

/** Why no connection came to be: the HTTP answer when there was one, else the network's or the certificate's fault. */
export class HandshakeError extends Error {
  /** 0 when no answer came. */
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

/** An open connection, or a `HandshakeError` with the status and the words of whoever refused. */
export function shakeHands(options: HandshakeOptions): Promise<Handshake> {
  const { url, headers, client, timeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { ...client, headers, handshakeTimeout: timeoutMs, perMessageDeflate: false });
    const abort = (): void => socket.terminate();
    const settle = (action: () => void): void => {
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
      refusalOf(response).then(
        (error) => settle(() => reject(error)),
        (error: unknown) => settle(() => reject(error instanceof Error ? error : new Error(String(error)))),
      );
    });
    // Stays after the handshake as well: an `error` nobody hears would end the process; `close` follows it.
    socket.on('error', (cause) =>
      settle(() => reject(new HandshakeError(cause.message, kindOfFailure(cause), 0, null, cause))),
    );
    if (signal.aborted) abort();
  });
}

async function refusalOf(response: IncomingMessage): Promise<HandshakeError> {
  const status = response.statusCode ?? 0;
  const words = redactText(await firstBytes(response))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, 512);
  const retryAfter = Number(response.headers['retry-after'] ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(retryAfter) && retryAfter >= 0 ? Math.min(retryAfter, 3600) : null;
  return new HandshakeError(
    `the platform answered ${status}: ${words}`,
    kindOfStatus(status),
    status,
    retryAfterSeconds,
  );
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
    // the status alone says enough
  } finally {
    response.destroy();
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_BODY_BYTES);
}

/** A refusal in one word, as `svc_api_errors_total` counts it. */
export function kindOfStatus(status: number): string {
  if (status === 401) return 'unauthorized';
  if (status === 403) return 'forbidden';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'server' : 'connection';
}

/** What kept an answer from coming, in one word. */
export function kindOfFailure(error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  if (code.startsWith('ERR_TLS') || code.includes('CERT') || code.includes('SELF_SIGNED')) return 'tls';
  return /timed out|timeout|no answer in/i.test(error.message) ? 'timeout' : 'connection';
}
