import type { Principal } from '@svc/access';
import { grantOf, principalOf, type HttpApp } from '@svc/http';
import { Type, type Static } from 'typebox';
import type { Cluster } from '../domain/cluster.ts';
import { pageRequest } from '../domain/paging.ts';
import { timestampAfter } from '../domain/timestamps.ts';
import { clusterErrors } from '../errors.ts';
import { findCluster, type RouteContext } from './context.ts';
import { clusterParams, nextCursor, pageQuery, scopeQuery } from './parameters.ts';
import { clusterSchema, heartbeatPointSchema, toClusterView, toHeartbeatView } from './views.ts';

const tags = ['clusters'];
const installSchema = Type.Object({
  helm: Type.String(),
  kubectl: Type.String(),
  secret: Type.String({ description: 'Command that updates only the token of an installed agent' }),
  image: Type.Union([Type.Object({ command: Type.String(), available: Type.Boolean() }), Type.Null()], {
    description:
      "Command to run first on each node that cannot pull the agent's image; available: whether the platform " +
      'serves an image',
  }),
});
const tokenFields = {
  token: Type.String({ description: 'Token of the agent; shown only once' }),
  install: installSchema,
};
const MAX_OVERLAP_SECONDS = 86_400;
const rotateBodySchema = Type.Object(
  { overlap_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OVERLAP_SECONDS })) },
  { additionalProperties: false },
);

/** Registers, reads, rotates and removes clusters. */
export function registerClusterRoutes(app: HttpApp, context: RouteContext): void {
  addCreateRoute(app, context);
  addListRoute(app, context);
  addReadRoute(app, context);
  addRemoveRoute(app, context);
  addTokenRoute(app, context);
  addStatusRoute(app, context);
}

function addCreateRoute(app: HttpApp, context: RouteContext): void {
  app.post(
    '/v1/clusters',
    {
      config: { action: 'cluster:create', auditResource: (request) => `cluster/${bodyName(request.body)}` },
      schema: {
        tags,
        summary: 'Register a cluster',
        querystring: Type.Object(scopeQuery),
        body: Type.Object(
          { name: Type.String({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9-]+$' }) },
          { additionalProperties: false },
        ),
        response: { 201: Type.Object({ ...clusterSchema.properties, ...tokenFields }) },
      },
    },
    async (request, reply) => {
      requireLasting(principalOf(request));
      const { cluster, token } = await context.registry.create(
        grantOf(request).workspaceUuid,
        request.body.name,
        principalOf(request).name,
      );
      return reply
        .status(201)
        .send({ ...view(cluster, context), token, install: await context.install(cluster, token) });
    },
  );
}

function addListRoute(app: HttpApp, context: RouteContext): void {
  app.get(
    '/v1/clusters',
    {
      config: { action: 'cluster:list' },
      schema: {
        tags,
        summary: 'List clusters with their live state',
        querystring: Type.Object(pageQuery),
        response: { 200: Type.Object({ clusters: Type.Array(clusterSchema), next_cursor: nextCursor }) },
      },
    },
    async (request) => {
      const page = pageRequest(request.query, 1);
      const { items, nextCursor: cursor } = await context.clusters.list(grantOf(request).workspaceUuid, page);
      return { clusters: items.map((cluster) => view(cluster, context)), next_cursor: cursor };
    },
  );
}

function addReadRoute(app: HttpApp, context: RouteContext): void {
  app.get(
    '/v1/clusters/:cluster',
    {
      config: { action: 'cluster:read' },
      schema: {
        tags,
        summary: 'Get a cluster',
        params: clusterParams,
        querystring: Type.Object(scopeQuery),
        response: { 200: clusterSchema },
      },
    },
    async (request) => view(await findCluster(context, request), context),
  );
}

function addRemoveRoute(app: HttpApp, context: RouteContext): void {
  app.delete(
    '/v1/clusters/:cluster',
    {
      config: { action: 'cluster:delete', auditResource: (request) => `cluster/${clusterName(request.params)}` },
      schema: {
        tags,
        summary: 'Remove a cluster and its history, and stop its agent',
        params: clusterParams,
        querystring: Type.Object(scopeQuery),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await context.registry.remove(await findCluster(context, request));
      return reply.status(204).send(null);
    },
  );
}

function addTokenRoute(app: HttpApp, context: RouteContext): void {
  app.post(
    '/v1/clusters/:cluster/token',
    {
      config: { action: 'cluster:rotate-token', auditResource: (request) => `cluster/${clusterName(request.params)}` },
      schema: {
        tags,
        summary: 'Rotate the agent token; the old token ends immediately or after an overlap',
        params: clusterParams,
        querystring: Type.Object(scopeQuery),
        body: Type.Optional(Type.Union([rotateBodySchema, Type.Null()])),
        response: { 200: Type.Object({ id: Type.String(), name: Type.String(), ...tokenFields }) },
      },
    },
    async (request) => {
      requireLasting(principalOf(request));
      const cluster = await findCluster(context, request);
      // Without a body, this is null or undefined, depending on the content type.
      const overlapMs = (request.body?.overlap_seconds ?? 0) * 1000;
      const token = await context.registry.rotateToken(cluster, overlapMs);
      return { id: cluster.id, name: cluster.name, token, install: await context.install(cluster, token) };
    },
  );
}

function addStatusRoute(app: HttpApp, context: RouteContext): void {
  app.get(
    '/v1/clusters/:cluster/status',
    {
      config: { action: 'cluster:read' },
      schema: {
        tags,
        summary: 'Get the live state and heartbeat history',
        params: clusterParams,
        querystring: Type.Object({
          ...scopeQuery,
          since: Type.Optional(Type.String({ maxLength: 64, description: 'ISO 8601; default: one hour ago' })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 2000 })),
        }),
        response: { 200: Type.Object({ cluster: clusterSchema, heartbeats: Type.Array(heartbeatPointSchema) }) },
      },
    },
    async (request) => {
      const cluster = await findCluster(context, request);
      const since = parseSince(request.query.since, context);
      const points = await context.telemetry.heartbeats(cluster.id, since, request.query.limit ?? 1000);
      return { cluster: view(cluster, context), heartbeats: points.map(toHeartbeatView) };
    },
  );
}

/**
 * An agent token does not expire, so an expiring credential may not create one: a leaked short-lived token would live
 * on.
 */
function requireLasting({ expiresAt }: Principal): void {
  if (expiresAt !== null)
    throw clusterErrors.EXPIRING_CREDENTIAL({ details: { field: 'Authorization', expires_at: expiresAt } });
}

function view(cluster: Cluster, { clock, offlineAfterMs }: RouteContext): Static<typeof clusterSchema> {
  return toClusterView(cluster, clock.now(), offlineAfterMs);
}

function parseSince(since: string | undefined, { clock }: RouteContext): string {
  if (since === undefined) return timestampAfter(clock.now(), -3_600_000);
  // `Date.parse` accepts more than ISO 8601: `5` would be a day in 2001.
  const at = /^\d{4}-\d{2}-\d{2}(T|$)/.test(since) ? Date.parse(since) : Number.NaN;
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  throw clusterErrors.INVALID_REQUEST({ details: { field: 'since', reason: 'since must be ISO 8601' } });
}

function bodyName(body: unknown): string {
  return typeof body === 'object' && body !== null && 'name' in body ? String(body.name).slice(0, 64) : '';
}

function clusterName(parameters: unknown): string {
  const named = typeof parameters === 'object' && parameters !== null && 'cluster' in parameters;
  return named ? String(parameters.cluster) : '';
}
