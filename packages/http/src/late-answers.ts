import type { Duplex } from 'node:stream';
import type { FastifyRequest } from 'fastify';
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

/**
 * Keeps the connections of routes that declare `answersLate`, from the time that the body has arrived until the response begins:
 * a client that does not read it is cut, and a request behind it has its usual limit.
 */
export function keepForLateAnswers(app: HttpApp): void {
  const limits = new WeakMap<FastifyRequest, () => void>();
  app.addHook('preHandler', async (request) => {
    const { socket } = request.raw;
    if (request.routeOptions.config.answersLate === true) limits.set(request, keepOpen(socket));
  });
  app.addHook('onSend', async (request) => limits.get(request)?.());
}

/**
 * Lets a connection be silent for as long as it takes. Its next request has the idle timeout of its listener again, and the
 * returned function restores it at once. Duck-typed: the socket of an HTTP/2 request is that of its stream.
 */
export function keepOpen(socket: Duplex): () => void {
  if ('setKeepAlive' in socket && typeof socket.setKeepAlive === 'function') socket.setKeepAlive(true, KEEP_ALIVE_MS);
  if (!('setTimeout' in socket) || typeof socket.setTimeout !== 'function') return () => undefined;
  const { setTimeout: set } = socket;
  const before = 'timeout' in socket && typeof socket.timeout === 'number' ? socket.timeout : 0;
  set.call(socket, 0);
  return () => void set.call(socket, before);
}
