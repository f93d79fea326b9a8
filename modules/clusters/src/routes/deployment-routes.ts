import { deploySchema, type DeployCommand } from '@svc/protocol';
import type { HttpApp } from '@svc/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { commandKey } from '../domain/changes.ts';
import type { Cluster } from '../domain/cluster.ts';
import { isFinished, type Deployment } from '../domain/command.ts';
import { pageRequest } from '../domain/paging.ts';
import { clusterErrors } from '../errors.ts';
import { commandEvents, hasSeenAll } from './command-notes-stream.ts';
import { actorOf, findCluster, openStream, originOf, type RouteContext } from './context.ts';
import { parseLastEventId, sendEvents, streamSignal } from './event-stream.ts';
import {
  COMMAND_RATE,
  clusterItemParams,
  clusterParams,
  nextCursor,
  pageQuery,
  scopeQuery,
  parseWaitMs,
  waitQuery,
} from './parameters.ts';
import { deploymentSchema, toDeploymentView } from './views.ts';

const tags = ['deployments'];
/** Large enough for a manifest at its limit with every byte escaped, which then fails its own check. */
const BODY_LIMIT_BYTES = 6 * 1024 * 1024;

const { actor: _actor, ...deployFields } = deploySchema.properties;
const deployBodySchema = Type.Object(
  {
    ...deployFields,
    manifest: Type.String({ minLength: 1, description: 'Kubernetes manifest in YAML, with one or more documents' }),
    queue_if_offline: Type.Optional(
      Type.Boolean({ description: 'Queue the deployment until the agent connects, instead of failing with 503' }),
    ),
  },
  { additionalProperties: false },
);

/** Routes to deploy, and to list, read and cancel deployments. */
export function registerDeploymentRoutes(app: HttpApp, context: RouteContext): void {
  addDeployRoute(app, context);
  addListRoute(app, context);
  addReadRoute(app, context);
  addCancelRoute(app, context);
  addFollowRoute(app, context);
}

function addDeployRoute(app: HttpApp, context: RouteContext): void {
  app.post(
    '/v1/clusters/:cluster/deploy',
    {
      bodyLimit: BODY_LIMIT_BYTES,
      config: { action: 'deployment:create', rateLimit: COMMAND_RATE },
      schema: {
        tags,
        summary: 'Deploy a manifest',
        params: clusterParams,
        querystring: Type.Object({ ...scopeQuery, wait: waitQuery, queue_if_offline: Type.Optional(Type.Boolean()) }),
        body: deployBodySchema,
        response: { 200: deploymentSchema, 202: deploymentSchema },
      },
    },
    async (request, reply) => {
      const waitMs = parseWaitMs(request.query.wait);
      const cluster = await findCluster(context, request);
      const { queue_if_offline: queue, ...fields } = request.body;
      const payload: DeployCommand = { ...fields, actor: actorOf(request) };
      const origin = originOf(request, cluster, queue ?? request.query.queue_if_offline ?? false);
      const accepted = await context.requests.deploy(origin, payload);
      if (accepted.replayed) reply.header('idempotent-replayed', 'true');
      if (waitMs > 0) {
        await context.dispatcher.wait(cluster.id, accepted.commandId, waitMs, streamSignal(reply, context.stopping));
      }
      const deployment = await context.deployments.findByCommand(accepted.commandId);
      if (deployment === undefined) throw notFound(accepted.commandId);
      const finished = waitMs > 0 && isFinished(deployment.command.state);
      return reply.status(finished ? 200 : 202).send(toDeploymentView(deployment, cluster));
    },
  );
}

function addListRoute(app: HttpApp, context: RouteContext): void {
  app.get(
    '/v1/clusters/:cluster/deployments',
    {
      config: { action: 'deployment:read' },
      schema: {
        tags,
        summary: 'List deployments, newest first',
        params: clusterParams,
        querystring: Type.Object({ ...pageQuery, project_id: Type.Optional(Type.String({ maxLength: 63 })) }),
        response: { 200: Type.Object({ deployments: Type.Array(deploymentSchema), next_cursor: nextCursor }) },
      },
    },
    async (request) => {
      const cluster = await findCluster(context, request);
      const page = pageRequest(request.query, 2);
      const found = await context.deployments.list(cluster.id, request.query.project_id ?? null, page);
      const views = found.items.map((deployment) => toDeploymentView(deployment, cluster));
      return { deployments: views, next_cursor: found.nextCursor };
    },
  );
}

function addReadRoute(app: HttpApp, context: RouteContext): void {
  app.get(
    '/v1/clusters/:cluster/deployments/:id',
    {
      config: { action: 'deployment:read' },
      schema: {
        tags,
        summary: 'Get a deployment and its result',
        params: clusterItemParams,
        querystring: Type.Object({ ...scopeQuery, wait: waitQuery }),
        response: { 200: deploymentSchema },
      },
    },
    async (request, reply) => {
      const waitMs = parseWaitMs(request.query.wait);
      const { cluster, deployment } = await findDeployment(context, request, request.params.id);
      if (waitMs === 0) return toDeploymentView(deployment, cluster);
      await context.dispatcher.wait(cluster.id, deployment.command.id, waitMs, streamSignal(reply, context.stopping));
      return toDeploymentView((await context.deployments.find(cluster.id, deployment.id)) ?? deployment, cluster);
    },
  );
}

function addCancelRoute(app: HttpApp, context: RouteContext): void {
  app.delete(
    '/v1/clusters/:cluster/deployments/:id',
    {
      config: { action: 'command:cancel' },
      schema: {
        tags,
        summary: 'Cancel an unfinished deployment',
        params: clusterItemParams,
        querystring: Type.Object(scopeQuery),
        response: { 200: deploymentSchema, 202: deploymentSchema },
      },
    },
    async (request, reply) => {
      const { cluster, deployment } = await findDeployment(context, request, request.params.id);
      await context.dispatcher.cancel(cluster.id, deployment.command.id);
      const after = (await context.deployments.find(cluster.id, deployment.id)) ?? deployment;
      return reply.status(isFinished(after.command.state) ? 200 : 202).send(toDeploymentView(after, cluster));
    },
  );
}

function addFollowRoute(app: HttpApp, context: RouteContext): void {
  app.get(
    '/v1/clusters/:cluster/deployments/:id/events',
    {
      config: { action: 'deployment:read' },
      schema: {
        tags,
        summary: 'Stream a deployment (server-sent events, resumable with Last-Event-ID)',
        params: clusterItemParams,
        querystring: Type.Object(scopeQuery),
      },
    },
    (request, reply) => followDeployment(context, request, reply, request.params.id),
  );
}

async function followDeployment(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
): Promise<FastifyReply> {
  const { cluster, deployment } = await findDeployment(context, request, id);
  const after = parseLastEventId(request);
  const { command } = deployment;
  // A 204 tells a browser's EventSource not to reconnect.
  if (await hasSeenAll(context.commands, command, after)) return reply.status(204).send();
  const stream = openStream(context, reply, commandKey(command.id));
  const final = async (): Promise<unknown> =>
    toDeploymentView((await context.deployments.find(cluster.id, id)) ?? deployment, cluster);
  const { commands } = context;
  return sendEvents(
    reply,
    commandEvents({ commands, clusterId: cluster.id, commandId: command.id, after: after ?? 0, final, ...stream }),
  );
}

async function findDeployment(
  context: RouteContext,
  request: FastifyRequest,
  id: string,
): Promise<{ cluster: Cluster; deployment: Deployment }> {
  const cluster = await findCluster(context, request);
  const deployment = await context.deployments.find(cluster.id, id);
  if (deployment === undefined) throw notFound(id);
  return { cluster, deployment };
}

function notFound(id: string): Error {
  return clusterErrors.DEPLOYMENT_NOT_FOUND({ details: { field: 'id', id } });
}
