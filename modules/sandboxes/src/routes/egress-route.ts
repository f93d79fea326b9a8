import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { EVERYTHING } from '../domain/egress-hosts.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import { egressTargets } from './create-request.ts';
import { toSandboxView, type ImageProgressSource } from './sandbox-view.ts';
import { egressAllowSchema, idParamsSchema, sandboxSchema, workspaceQuerySchema } from './schemas.ts';

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
      config: { action: 'sandbox:update' },
      schema: {
        tags: ['sandboxes'],
        summary: 'Replace what a sandbox can reach, running or not; its open connections end',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        body: Type.Object(
          { egress_allow: Type.Union([egressAllowSchema, Type.Null()]) },
          { additionalProperties: false },
        ),
        response: { 200: sandboxSchema },
      },
    },
    async (request) => {
      const { egress_allow: given } = request.body;
      const allowed = given === null ? EVERYTHING : egressTargets(given);
      return toSandboxView(
        await service.changeEgress(grantOf(request).workspaceUuid, request.params.id, allowed),
        images,
      );
    },
  );
}
