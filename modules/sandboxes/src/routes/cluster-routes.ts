import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import type { ClusterChoice } from '../domain/clusters/choose-cluster.ts';
import { workspaceQuerySchema } from './schemas.ts';

export interface ClusterRoutesOptions {
  readonly choice: ClusterChoice;
}

/** Lists where `cluster` of a create request may lead. */
export function registerClusterRoutes(app: HttpApp, { choice }: ClusterRoutesOptions): void {
  app.get(
    '/api/sandbox-clusters',
    {
      config: { action: 'sandbox:list' },
      schema: {
        tags: ['sandboxes'],
        summary: 'List the connected clusters that run sandboxes',
        querystring: workspaceQuerySchema,
        response: {
          200: Type.Object({
            clusters: Type.Array(
              Type.Object({
                id: Type.String(),
                name: Type.String(),
                connected: Type.Boolean({ description: 'Whether its agent has a connection now' }),
                missing_capabilities: Type.Array(Type.String(), {
                  description:
                    'Capabilities that sandboxes in this cluster lack, such as disk_limit, gpus, mounts or volumes',
                }),
              }),
            ),
            count: Type.Integer(),
          }),
        },
      },
    },
    async (request) => {
      const found = await choice.list(grantOf(request).workspaceUuid);
      const clusters = found.map(({ id, name, isConnected, missingCapabilities: missing }) => {
        return { id, name, connected: isConnected, missing_capabilities: [...missing] };
      });
      return { clusters, count: clusters.length };
    },
  );
}
