import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import type { SandboxService } from '../domain/sandbox-service.ts';
import { egressFrom } from './create-request.ts';
import { toSandboxView, type ImageProgressSource } from './sandbox-view.ts';
import { egressAllowSchema, egressDenySchema, idParamsSchema, sandboxSchema, workspaceQuerySchema } from './schemas.ts';

export interface EgressRouteOptions {
  readonly prefix: string;
  readonly service: SandboxService;
  readonly images: ImageProgressSource;
}

/** `…/:id/egress`. */
export function registerEgressRoute(app: HttpApp, { prefix, service, images }: EgressRouteOptions): void {
  app.put(
    `${prefix}/:id/egress`,
    {
      config: { action: 'sandbox:update', answersLate: true },
      schema: {
        tags: ['sandboxes'],
        summary: 'Replace the allowed egress of a sandbox, running or not; its open connections end',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        body: Type.Object(
          {
            egress_allow: Type.Optional(Type.Union([egressAllowSchema, Type.Null()])),
            egress_deny: Type.Optional(egressDenySchema),
          },
          { additionalProperties: false, minProperties: 1 },
        ),
        response: { 200: sandboxSchema },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      return toSandboxView(
        await service.changeEgress(workspaceUuid, request.params.id, egressFrom(request.body)),
        images,
      );
    },
  );
}
