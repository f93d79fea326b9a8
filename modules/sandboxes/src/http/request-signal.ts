import type { FastifyReply } from 'fastify';

/** Aborts when the client has gone before it was answered. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
}
