import { clustersStateSchema } from '@svc/clusters';
import { grantOf, type HttpApp } from '@svc/http';
import { objectStoreStateSchema } from '@svc/object-store';
import { sandboxesStateSchema } from '@svc/sandboxes';
import { Type, type Static } from 'typebox';
import type { ServiceModules } from '../modules.ts';

export const platformStatusSchema = Type.Object({
  version: Type.String(),
  uptime_seconds: Type.Integer(),
  services: Type.Object({
    clusters: clustersStateSchema,
    object_store: objectStoreStateSchema,
    sandboxes: sandboxesStateSchema,
  }),
});

export type PlatformStatus = Static<typeof platformStatusSchema>;
type ServiceStates = PlatformStatus['services'];

/** Reads the state of a workspace in every service. */
export async function readServiceStates(modules: ServiceModules, workspaceUuid: string): Promise<ServiceStates> {
  return {
    clusters: await modules.clusters.state(workspaceUuid),
    object_store: await modules.objectStore.state(workspaceUuid),
    sandboxes: await modules.sandboxes.state(workspaceUuid),
  };
}

export interface StatusSource {
  version: string;
  uptimeSeconds: () => number;
  /** State of one workspace's services, read on demand. */
  services: (workspaceUuid: string) => Promise<ServiceStates>;
}

/** `GET /api/v1/platform/status`: data of the console's overview. */
export function registerStatusRoutes(app: HttpApp, source: StatusSource): void {
  app.get(
    '/api/v1/platform/status',
    {
      config: { action: 'workspace:read' },
      schema: {
        tags: ['platform'],
        summary: 'Get the state of the services of a workspace',
        querystring: Type.Object({
          workspace_uuid: Type.Optional(Type.String()),
          team_uuid: Type.Optional(Type.String()),
        }),
        response: { 200: platformStatusSchema },
      },
    },
    async (request) => ({
      version: source.version,
      uptime_seconds: source.uptimeSeconds(),
      services: await source.services(grantOf(request).workspaceUuid),
    }),
  );
}
