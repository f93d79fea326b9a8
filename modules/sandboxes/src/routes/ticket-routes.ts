import { grantedAccessOf, grantOf, principalOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { Tickets } from '../domain/tickets.ts';
import { idParamsSchema, workspaceQuerySchema } from './schemas.ts';

export interface TicketRoutesOptions {
  readonly prefix: string;
  readonly service: SandboxService;
  readonly tickets: Tickets;
}

export function registerTicketRoutes(app: HttpApp, { prefix, service, tickets }: TicketRoutesOptions): void {
  app.post(
    `${prefix}/:id/terminal/tickets`,
    {
      config: { action: 'sandbox:exec', anyNode: true },
      schema: {
        tags: ['sandboxes'],
        summary: 'Create a single-use ticket, valid for 30 s, that opens a terminal at /ws/terminal/ID?ticket=',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        response: { 201: Type.Object({ ticket: Type.String(), expires_at: Type.String({ format: 'date-time' }) }) },
      },
    },
    async (request, reply) => {
      const grant = grantOf(request);
      const sandbox = await service.get(grant.workspaceUuid, request.params.id);
      const { ticket, expiresAt } = await tickets.issue(
        sandbox.id,
        grantedAccessOf(request),
        principalOf(request).expiresAt,
      );
      return reply.status(201).send({ ticket, expires_at: expiresAt });
    },
  );
}
