import { resizeSchema, stdinSchema } from '@svc/protocol';
import type { HttpApp } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { AgentLink } from '../domain/agent-link.ts';
import { clusterErrors } from '../errors.ts';
import type { RouteContext } from './context.ts';
import { findCommand } from './find-command.ts';
import { AGENT, ownedByHolder } from './owned.ts';
import { COMMAND_RATE, clusterItemParams, scopeQuery } from './parameters.ts';

/** Per call. Longer input takes several calls; a shell's keystrokes stay far below this. */
const MAX_INPUT_CHARACTERS = 256 * 1024;

const { encoding, eof } = stdinSchema.properties;
const stdinBodySchema = Type.Object(
  { data: Type.String({ maxLength: MAX_INPUT_CHARACTERS }), encoding, eof },
  { additionalProperties: false },
);
const resizeBodySchema = Type.Object(
  { rows: resizeSchema.properties.rows, cols: resizeSchema.properties.cols },
  { additionalProperties: false },
);

/** Standard input and terminal size of a running exec. Its output comes from `GET …/commands/{id}/events`. */
export function registerCommandInputRoutes(app: HttpApp, context: RouteContext): void {
  const sequence = inputSequence(() => context.clock.now().getTime());
  app.post(
    '/v1/clusters/:cluster/commands/:id/stdin',
    {
      config: { action: 'command:exec', rateLimit: COMMAND_RATE, owned: ownedByHolder(AGENT) },
      schema: {
        tags: ['commands'],
        summary: 'Send standard input to a running exec, or close it',
        params: clusterItemParams,
        querystring: Type.Object(scopeQuery),
        body: stdinBodySchema,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const link = await linkForInput(context, request, id, 'stdin');
      await link.send('stdin', { command_id: id, seq: sequence(), ...request.body });
      return reply.status(204).send(null);
    },
  );
  app.post(
    '/v1/clusters/:cluster/commands/:id/resize',
    {
      config: { action: 'command:exec', rateLimit: COMMAND_RATE, owned: ownedByHolder(AGENT) },
      schema: {
        tags: ['commands'],
        summary: 'Resize the terminal of a running exec',
        params: clusterItemParams,
        querystring: Type.Object(scopeQuery),
        body: resizeBodySchema,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const link = await linkForInput(context, request, id, 'tty');
      await link.send('resize', { command_id: id, ...request.body });
      return reply.status(204).send(null);
    },
  );
}

/** Returns the agent's connection for a running command that accepts this kind of input. */
async function linkForInput(
  context: RouteContext,
  request: FastifyRequest,
  id: string,
  kind: 'stdin' | 'tty',
): Promise<AgentLink> {
  const { cluster, command } = await findCommand(context, request, id);
  const refuse = (reason: string): Error => clusterErrors.COMMAND_NOT_RUNNING({ details: { id, field: 'id', reason } });
  if (command.kind !== 'exec') throw refuse(`it is a ${command.kind}`);
  if (command.state !== 'running' && command.state !== 'dispatched') throw refuse(`it is ${command.state}`);
  const payload = await context.commands.payload(id);
  if (payload?.[kind] !== true) throw refuse(`it was started without ${kind}`);
  const link = context.dispatcher.findLink(cluster.id);
  if (link !== undefined && link.instanceId !== null) return link;
  throw clusterErrors.AGENT_OFFLINE({ details: { cluster: cluster.name }, headers: { 'retry-after': '5' } });
}

/** Numbers that only increase, even across platform restarts: an agent uses them to drop duplicates. */
function inputSequence(nowMs: () => number): () => number {
  let last = 0;
  return () => (last = Math.max(last + 1, nowMs() * 1000));
}
