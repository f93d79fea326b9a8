import { execSchema } from '@svc/protocol';
import type { HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { commandKey } from '../domain/changes.ts';
import { isFinished } from '../domain/command.ts';
import { pageRequest } from '../domain/paging.ts';
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
import { registerCommandInputRoutes } from './command-input-routes.ts';
import { commandNotFound, findCommand } from './find-command.ts';
import { commandSchema, toCommandView } from './views.ts';

const tags = ['commands'];

const { pod, namespace, container, command, timeout_seconds, max_output_bytes, stream, stdin, tty, rows, cols } =
  execSchema.properties;
const execBodySchema = Type.Object(
  {
    pod,
    namespace,
    container,
    command,
    timeout_seconds,
    max_output_bytes,
    stream,
    stdin,
    tty,
    rows,
    cols,
    queue_if_offline: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

/** Routes for commands of every kind, and exec. */
export function registerCommandRoutes(app: HttpApp, context: RouteContext): void {
  addExecRoute(app, context);
  addListRoute(app, context);
  addReadRoute(app, context);
  addCancelRoute(app, context);
  addFollowRoute(app, context);
  registerCommandInputRoutes(app, context);
}

function addExecRoute(app: HttpApp, context: RouteContext): void {
  app.post(
    '/v1/clusters/:cluster/exec',
    {
      config: { action: 'command:exec', rateLimit: COMMAND_RATE },
      schema: {
        tags,
        summary: 'Run a command in a container',
        params: clusterParams,
        querystring: Type.Object({ ...scopeQuery, wait: waitQuery }),
        body: execBodySchema,
        response: { 200: commandSchema, 202: commandSchema },
      },
    },
    async (request, reply) => {
      const waitMs = parseWaitMs(request.query.wait);
      const cluster = await findCluster(context, request);
      const { queue_if_offline: queue = false, ...fields } = request.body;
      const origin = originOf(request, cluster, queue);
      const accepted = await context.requests.exec(origin, { ...fields, actor: actorOf(request) });
      if (accepted.replayed) reply.header('idempotent-replayed', 'true');
      const signal = streamSignal(reply, context.stopping);
      const command = await context.dispatcher.wait(cluster.id, accepted.commandId, waitMs, signal);
      if (command === undefined) throw commandNotFound(accepted.commandId);
      return reply.status(waitMs > 0 && isFinished(command.state) ? 200 : 202).send(toCommandView(command, cluster));
    },
  );
}

function addListRoute(app: HttpApp, context: RouteContext): void {
  app.get(
    '/v1/clusters/:cluster/commands',
    {
      config: { action: 'command:read' },
      schema: {
        tags,
        summary: 'List commands, newest first',
        params: clusterParams,
        querystring: Type.Object(pageQuery),
        response: { 200: Type.Object({ commands: Type.Array(commandSchema), next_cursor: nextCursor }) },
      },
    },
    async (request) => {
      const cluster = await findCluster(context, request);
      const found = await context.commands.list(cluster.id, pageRequest(request.query, 2));
      return { commands: found.items.map((each) => toCommandView(each, cluster)), next_cursor: found.nextCursor };
    },
  );
}

function addReadRoute(app: HttpApp, context: RouteContext): void {
  app.get(
    '/v1/clusters/:cluster/commands/:id',
    {
      config: { action: 'command:read' },
      schema: {
        tags,
        summary: 'Get a command and its result',
        params: clusterItemParams,
        querystring: Type.Object({ ...scopeQuery, wait: waitQuery }),
        response: { 200: commandSchema },
      },
    },
    async (request, reply) => {
      const waitMs = parseWaitMs(request.query.wait);
      const { cluster, command } = await findCommand(context, request, request.params.id);
      const signal = streamSignal(reply, context.stopping);
      return toCommandView((await context.dispatcher.wait(cluster.id, command.id, waitMs, signal)) ?? command, cluster);
    },
  );
}

function addCancelRoute(app: HttpApp, context: RouteContext): void {
  app.delete(
    '/v1/clusters/:cluster/commands/:id',
    {
      config: { action: 'command:cancel' },
      schema: {
        tags,
        summary: 'Cancel a command; a finished command does not change',
        params: clusterItemParams,
        querystring: Type.Object(scopeQuery),
        response: { 200: commandSchema, 202: commandSchema },
      },
    },
    async (request, reply) => {
      const { cluster, command } = await findCommand(context, request, request.params.id);
      const after = (await context.dispatcher.cancel(cluster.id, command.id)) ?? command;
      return reply.status(isFinished(after.state) ? 200 : 202).send(toCommandView(after, cluster));
    },
  );
}

function addFollowRoute(app: HttpApp, context: RouteContext): void {
  app.get(
    '/v1/clusters/:cluster/commands/:id/events',
    {
      config: { action: 'command:read' },
      schema: {
        tags,
        summary: 'Stream a command and its output (server-sent events, resumable with Last-Event-ID)',
        params: clusterItemParams,
        querystring: Type.Object(scopeQuery),
      },
    },
    async (request, reply) => {
      const { cluster, command } = await findCommand(context, request, request.params.id);
      const after = parseLastEventId(request);
      const { commands } = context;
      if (await hasSeenAll(commands, command, after)) return reply.status(204).send();
      const stream = openStream(context, reply, commandKey(command.id));
      const final = async (): Promise<unknown> =>
        toCommandView((await commands.find(cluster.id, command.id)) ?? command, cluster);
      return sendEvents(
        reply,
        commandEvents({ commands, clusterId: cluster.id, commandId: command.id, after: after ?? 0, final, ...stream }),
      );
    },
  );
}
