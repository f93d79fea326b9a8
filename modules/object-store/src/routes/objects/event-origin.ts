import { principalOf } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import type { EventOrigin } from '../../domain/ports/notifications.ts';

/** The origin of a change, for notifications. */
export function originOf(request: FastifyRequest): EventOrigin {
  return { principal: principalOf(request).id, requestId: request.id, sourceAddress: request.ip };
}
