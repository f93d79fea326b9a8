import { principalOf } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import type { EventOrigin } from '../../domain/ports/notifications.ts';

/** Who changes something by this request, for those who are told of it. */
export function originOf(request: FastifyRequest): EventOrigin {
  return { principal: principalOf(request).id, requestId: request.id, sourceAddress: request.ip };
}
