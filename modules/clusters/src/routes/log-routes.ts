import { Readable } from 'node:stream';
import { AppError } from '@svc/errors';
import { logsSchema, type LogsCommand } from '@svc/protocol';
import type { HttpApp } from '@svc/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import type { CommandOutcome } from '../domain/command.ts';
import type { LogBuffer, LogPiece } from '../domain/log-buffer.ts';
import { LogSource } from '../domain/log-source.ts';
import { actorOf, findCluster, originOf, type RouteContext } from './context.ts';
import { sendEvents, streamSignal, wantsEvents, type ServerEvents } from './event-stream.ts';
import { AGENT, ownedByHolder } from './owned.ts';
import { clusterParams, scopeQuery } from './parameters.ts';

const logsQuerySchema = Type.Object({
  ...scopeQuery,
  ...Type.Omit(logsSchema, ['actor']).properties, // the actor is the caller
});
type LogsQuery = Static<typeof logsQuerySchema>;

/** Statuses of the contract for the agent's error codes. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  INVALID_REQUEST: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  RATE_LIMITED: 429,
  UNAVAILABLE: 503,
  TIMEOUT: 504,
};

/**
 * `GET …/logs`: lines as text or as server-sent events, with `follow` until the reader disconnects. Each event carries
 * the position of its last line: after a lost connection or a restart of this process, a client resumes from it with
 * `resume_after`.
 */
export function registerLogRoutes(app: HttpApp, context: RouteContext): void {
  app.get(
    '/v1/clusters/:cluster/logs',
    {
      config: { action: 'log:read', owned: ownedByHolder(AGENT) },
      schema: {
        tags: ['logs'],
        summary: 'Get the logs of a container as text, or stream them with Accept: text/event-stream',
        params: clusterParams,
        querystring: logsQuerySchema,
      },
    },
    (request, reply) => answerLogs(context, request, reply, request.query),
  );
}

async function answerLogs(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { workspace_uuid: _workspace, team_uuid: _team, ...fields }: LogsQuery,
): Promise<FastifyReply> {
  const cluster = await findCluster(context, request);
  const payload: LogsCommand = { ...fields, actor: actorOf(request) };
  const signal = streamSignal(reply, context.stopping);
  const { relays, dispatcher, requests } = context;
  const source = new LogSource({
    relays,
    dispatcher,
    requests,
    origin: { ...originOf(request, cluster, false), idempotencyKey: null },
    payload,
    signal,
    onError: (error, command) => request.log.error({ err: error, command }, 'logs could not be resumed or cancelled'),
  });
  await source.open();
  const { buffer } = source;
  // Wait for the first reply, so that a missing pod is a 404 and not an empty stream.
  const first = await buffer.next(signal);
  if (first === null && buffer.outcome?.status === 'failed') throw createRefusal(buffer.outcome);
  if (wantsEvents(request)) return sendEvents(reply, logEvents(buffer, first, signal));
  return reply
    .header('content-type', 'text/plain; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(Readable.from(logText(buffer, first, signal, reply), { objectMode: false }));
}

async function* logText(
  buffer: LogBuffer,
  first: LogPiece | null | undefined,
  signal: AbortSignal,
  reply: FastifyReply,
): AsyncGenerator<string, void, undefined> {
  // The headers are set by now. Flush them, so that the reader of a quiet container gets a response before the first
  // line.
  reply.raw.flushHeaders();
  for (let piece = first; piece !== null && piece !== undefined; piece = await buffer.next(signal)) {
    if (piece.droppedLines > 0) yield `[${piece.droppedLines} lines were dropped: the platform is too slow]\n`;
    if (piece.droppedBytes > 0) yield `[${piece.droppedBytes} bytes were dropped: the reader is too slow]\n`;
    if (piece.text !== '') yield piece.text;
  }
  const { status, error } = buffer.outcome ?? {};
  if (status !== undefined && status !== 'succeeded' && !signal.aborted) {
    yield `[the logs ended: ${error?.message ?? status}]\n`;
  }
}

async function* logEvents(buffer: LogBuffer, first: LogPiece | null | undefined, signal: AbortSignal): ServerEvents {
  let id = 0;
  for (let piece = first; piece !== undefined; piece = await buffer.next(signal)) {
    id += 1;
    if (piece === null) {
      yield { id, event: 'end', data: buffer.outcome };
      return;
    }
    const { text, droppedBytes, droppedLines, position } = piece;
    const data = {
      text,
      ...(droppedBytes > 0 ? { dropped_bytes: droppedBytes } : {}),
      ...(droppedLines > 0 ? { dropped_lines: droppedLines } : {}),
      ...(position === undefined ? {} : { position }),
    };
    yield { id, event: 'log', data };
  }
}

function createRefusal({ error }: CommandOutcome): AppError {
  const code = error?.code ?? 'INTERNAL';
  return new AppError({
    code,
    status: STATUS_OF_CODE[code] ?? 502,
    message: error?.message ?? 'The agent could not read the logs',
    details: error?.details ?? {},
  });
}
