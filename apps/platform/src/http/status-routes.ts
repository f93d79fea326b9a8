import { grantOf, type HttpApp } from '@svc/http';
import { Type, type Static } from 'typebox';

const serviceState = { enabled: Type.Boolean(), reason: Type.Union([Type.String(), Type.Null()]) };
const nullableText = Type.Union([Type.String(), Type.Null()]);

const warmImageSchema = Type.Object({
  image: Type.String(),
  ready: Type.Integer({ description: 'Sandboxes ready now' }),
  target: Type.Integer({ description: 'Sandboxes to keep ready' }),
  hits: Type.Integer({ description: 'Creates served from the pool since the start' }),
  misses: Type.Integer({ description: 'Creates that found the pool empty' }),
});

export const platformStatusSchema = Type.Object({
  version: Type.String(),
  uptime_seconds: Type.Integer(),
  services: Type.Object({
    clusters: Type.Object({
      ...serviceState,
      total: Type.Integer(),
      connected: Type.Integer(),
      pending: Type.Integer({ description: 'Clusters whose agent has never connected' }),
    }),
    object_store: Type.Object({
      ...serviceState,
      provisioned: Type.Boolean(),
      buckets: Type.Integer(),
      objects: Type.Integer(),
      bytes: Type.Integer(),
      s3_endpoint: nullableText,
    }),
    sandboxes: Type.Object({
      ...serviceState,
      running: Type.Integer({ description: 'Running sandboxes, not counting paused ones' }),
      paused: Type.Integer(),
      total: Type.Integer(),
      limit: Type.Integer(),
      driver: nullableText,
      runtime: nullableText,
      isolations: Type.Array(Type.String(), { description: 'Isolations available here: namespaces, gvisor' }),
      isolation: Type.Union([Type.String(), Type.Null()], { description: 'Default isolation' }),
      isolation_reason: Type.Union([Type.String(), Type.Null()], {
        description:
          "Why a sandbox with the default isolation shares the host's kernel or cannot be created; null with gVisor",
      }),
      shares_kernel: Type.Union([Type.Boolean(), Type.Null()], {
        description: "Whether programs of such a sandbox run directly on the host's kernel; false with gVisor",
      }),
      warm_pool: Type.Array(warmImageSchema, {
        description: 'Ready sandboxes on the replica that responds, for each image in sandboxes.warm_pool',
      }),
    }),
  }),
});

export type PlatformStatus = Static<typeof platformStatusSchema>;
export type ServiceStates = PlatformStatus['services'];

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
