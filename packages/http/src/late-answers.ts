import type { Duplex } from 'node:stream';
import type { HttpApp } from './http-app.ts';

const KEEP_ALIVE_MS = 30_000;

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The response may come hours after the request, with nothing sent in between: the idle timeout of the listener does not
     * apply. TCP keepalive finds clients that are gone.
     */
    answersLate?: true;
  }
}

/** Keeps the connections of routes that declare `answersLate`, once the body has arrived. */
export function keepForLateAnswers(app: HttpApp): void {
  app.addHook('preHandler', async (request) => {
    if (request.routeOptions.config.answersLate === true) keepOpen(request.raw.socket);
  });
}

/**
 * Lets a connection be silent for as long as it takes. Its next request has the idle timeout of its listener again.
 * Duck-typed: the socket of an HTTP/2 request is that of its stream.
 */
export function keepOpen(socket: Duplex): void {
  if ('setTimeout' in socket && typeof socket.setTimeout === 'function') socket.setTimeout(0);
  if ('setKeepAlive' in socket && typeof socket.setKeepAlive === 'function') socket.setKeepAlive(true, KEEP_ALIVE_MS);
}
