import type { IncomingMessage } from 'node:http';
import type { Exchange } from './connections.ts';

export interface SlowBodyLimits {
  minBodyBytesPerSecond: number;
  bodyRateWindowMs: number;
}

/**
 * Cuts uploads that drip: a client that sends a byte a minute would hold a socket, and whatever its request has reserved,
 * for ever. Where our side is what does not read, nobody is cut. Gives the function that stops it.
 */
export function cutSlowBodies(
  exchanges: () => Iterable<Exchange>,
  limits: SlowBodyLimits,
  cut: (exchange: Exchange) => void = ({ request }) => void request.destroy(),
): () => void {
  if (limits.minBodyBytesPerSecond === 0) return () => undefined;
  const neededBytes = (limits.minBodyBytesPerSecond * limits.bodyRateWindowMs) / 1000;
  const seen = new WeakMap<IncomingMessage, number>();
  const timer = setInterval(() => {
    for (const exchange of exchanges()) {
      const { request, response } = exchange;
      const before = seen.get(request);
      const nowBytes = request.socket.bytesRead;
      seen.set(request, nowBytes);
      if (before === undefined || !isWaitingForBody(request, response.writableEnded)) continue;
      if (nowBytes - before < neededBytes) cut(exchange);
    }
  }, limits.bodyRateWindowMs);
  timer.unref();
  return () => clearInterval(timer);
}

function isWaitingForBody(request: IncomingMessage, isAnswered: boolean): boolean {
  if (request.complete || isAnswered || request.destroyed) return false;
  const announcesBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  // A client that waits for `100 Continue` sends nothing, rightly; one whose bytes lie here unread is not the slow one.
  return announcesBody && request.headers.expect === undefined && request.readableLength === 0;
}
