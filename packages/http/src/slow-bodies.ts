import type { IncomingMessage } from 'node:http';
import { BackgroundLoop } from '@svc/runtime';
import type { Exchange } from './connections.ts';

/** Minimum upload rate: bytes per second, averaged over a window in milliseconds. A minimum of 0 disables the check. */
export interface SlowBodyLimits {
  minBodyBytesPerSecond: number;
  bodyRateWindowMs: number;
}

/**
 * Cuts slow uploads: a client sending a byte a minute would hold a socket, and everything its request has reserved,
 * forever. Spares clients that wait because our side is not reading. Returns a function that stops it.
 */
export function cutSlowBodies(
  exchanges: () => Iterable<Exchange>,
  limits: SlowBodyLimits,
  cut: (exchange: Exchange) => void = ({ request }) => void request.destroy(),
): () => void {
  if (limits.minBodyBytesPerSecond === 0) return () => undefined;
  const neededBytes = (limits.minBodyBytesPerSecond * limits.bodyRateWindowMs) / 1000;
  const seen = new WeakMap<IncomingMessage, number>();
  const check = (): void => {
    for (const exchange of exchanges()) {
      const { request, response } = exchange;
      const before = seen.get(request);
      const nowBytes = request.socket.bytesRead;
      seen.set(request, nowBytes);
      if (before === undefined || !isWaitingForBody(request, response.writableEnded)) continue;
      if (nowBytes - before < neededBytes) cut(exchange);
    }
  };
  const loop = new BackgroundLoop({
    run: async () => check(),
    intervalMs: limits.bodyRateWindowMs,
    onError: (error) => {
      throw error; // a bug: nothing in a check waits or fails
    },
  });
  loop.start();
  return () => void loop.close();
}

function isWaitingForBody(request: IncomingMessage, isAnswered: boolean): boolean {
  if (request.complete || isAnswered || request.destroyed) return false;
  const announcesBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  // If bytes are unread, or the handler has not started to read, our side is slow. A client that awaits `100 Continue` is
  // right to send nothing, until it has sent something.
  const { readableDidRead: hasBegun, readableFlowing, readableLength } = request;
  const isRead = (readableFlowing !== null || request.listenerCount('readable') > 0) && readableLength === 0;
  return announcesBody && isRead && (hasBegun || request.headers.expect === undefined);
}
