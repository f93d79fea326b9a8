import { whenClosed } from '@svc/http';
import type { FastifyReply } from 'fastify';

/** Aborts when the client disconnects before the response. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  whenClosed(reply.raw, () => controller.abort());
  return controller.signal;
}
