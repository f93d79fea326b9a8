import { Readable } from 'node:stream';
import { grantOf, type HttpApp } from '@svc/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { SandboxService } from '../domain/sandbox-service.ts';
import { sandboxErrors } from '../errors.ts';
import type { EventFeed, FeedItem } from '../domain/events/event-feed.ts';
import type { EventLog, EventScope } from '../domain/events/event-log.ts';
import { EVENT_TYPES, type SandboxEvent } from '../domain/events/sandbox-event.ts';
import { goneSignal } from './request-signal.ts';
import { idParamsSchema, workspaceQuery } from './schemas.ts';

const DEFAULT_PAGE_SIZE = 100;
const NUMBER = /^\d{1,15}$/;

const eventSchema = Type.Object({
  id: Type.Integer({ description: 'Increases by one with each event of the workspace' }),
  sandbox_id: Type.String(),
  type: Type.Enum([...EVENT_TYPES]),
  at: Type.String({ format: 'date-time' }),
  details: Type.Record(Type.String(), Type.Unknown()),
});

const pageSchema = Type.Object(
  {
    events: Type.Array(eventSchema),
    count: Type.Integer(),
    next_cursor: Type.Union([Type.String(), Type.Null()]),
  },
  { description: 'With format=json: a page, newest first' },
);

const querySchema = Type.Object({
  ...workspaceQuery,
  format: Type.Optional(Type.Union([Type.Literal('sse'), Type.Literal('json')], { description: 'sse by default' })),
  cursor: Type.Optional(Type.String({ maxLength: 20 })),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: '100 by default' })),
  last_event_id: Type.Optional(
    Type.String({ maxLength: 20, description: 'Same as the Last-Event-ID header, for clients that cannot set it' }),
  ),
});

const description =
  "Server-sent events: `id` is the event's number, `event` its type and `data` the event as JSON. The " +
  'stream starts with new events, or after `Last-Event-ID`; `event: gap` means that some events in between ' +
  'are no longer stored. With `format=json`, the response is a page of stored events, newest first.';

export interface EventRoutesOptions {
  readonly service: SandboxService;
  readonly feed: EventFeed;
  readonly events: EventLog;
}

/** `GET /api/events`: events of all sandboxes of a workspace. */
export function registerWorkspaceEventRoutes(app: HttpApp, options: EventRoutesOptions): void {
  app.get(
    '/api/events',
    {
      config: { action: 'sandbox:list' },
      schema: {
        tags: ['sandboxes'],
        summary: 'List or stream the events of all sandboxes of the workspace',
        description,
        querystring: querySchema,
        response: { 200: pageSchema },
      },
    },
    async (request, reply) => {
      const scope: EventScope = { workspaceUuid: grantOf(request).workspaceUuid, sandboxId: null };
      return await answer(options, scope, request, request.query, reply);
    },
  );
}

/** `GET …/:id/events`: events of one sandbox. The stream ends after the sandbox is deleted. */
export function registerEventRoutes(app: HttpApp, options: EventRoutesOptions & { readonly prefix: string }): void {
  app.get(
    `${options.prefix}/:id/events`,
    {
      config: { action: 'sandbox:read', anyNode: true },
      schema: {
        tags: ['sandboxes'],
        summary: 'List or stream the events of a sandbox',
        description,
        params: idParamsSchema,
        querystring: querySchema,
        response: { 200: pageSchema },
      },
    },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      const sandbox = await options.service.get(workspaceUuid, request.params.id);
      return await answer(options, { workspaceUuid, sandboxId: sandbox.id }, request, request.query, reply);
    },
  );
}

async function answer(
  { feed, events }: EventRoutesOptions,
  scope: EventScope,
  request: FastifyRequest,
  query: Static<typeof querySchema>,
  reply: FastifyReply,
): Promise<Static<typeof pageSchema> | FastifyReply> {
  if (query.format === 'json') return page(events, scope, query.page_size ?? DEFAULT_PAGE_SIZE, query.cursor);
  const header = request.headers['last-event-id'];
  const wanted = query.last_event_id ?? (typeof header === 'string' && header !== '' ? header : undefined);
  // Read before the response starts, so that a client misses no event after it sees the start.
  const after = wanted === undefined ? await events.newest(scope.workspaceUuid) : parseNumber(wanted, 'Last-Event-ID');
  const leave = feed.enter(scope.workspaceUuid);
  const stream = Readable.from(encode(feed.follow(scope, after, goneSignal(reply))), { objectMode: false });
  stream.once('close', leave);
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' };
  return reply.headers({ ...headers, 'x-accel-buffering': 'no' }).send(stream); // nginx would buffer events
}

async function page(
  events: EventLog,
  scope: EventScope,
  pageSize: number,
  cursor: string | undefined,
): Promise<Static<typeof pageSchema>> {
  const below = cursor === undefined ? null : parseNumber(cursor, 'cursor');
  const found = await events.before(scope, below, pageSize + 1);
  const shown = found.slice(0, pageSize);
  const last = shown.at(-1);
  return {
    events: shown.map(toEventView),
    count: shown.length,
    next_cursor: found.length > pageSize && last !== undefined ? String(last.sequence) : null,
  };
}

async function* encode(items: AsyncIterable<FeedItem>): AsyncGenerator<string, void, undefined> {
  yield 'retry: 2000\n\n'; // also shows the client that the stream is open
  for await (const item of items) {
    switch (item.kind) {
      case 'heartbeat':
        yield ': keep-alive\n\n';
        break;
      case 'gap':
        yield `event: gap\ndata: ${JSON.stringify({ after: item.after, oldest: item.oldest })}\n\n`;
        break;
      case 'event': {
        const data = toEventView(item.event);
        yield `id: ${data.id}\nevent: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`; // JSON has no line breaks
      }
    }
  }
}

function toEventView({ sequence, sandboxId, type, at, details }: SandboxEvent): Static<typeof eventSchema> {
  return { id: sequence, sandbox_id: sandboxId, type, at, details };
}

function parseNumber(text: string, field: string): number {
  if (NUMBER.test(text)) return Number(text);
  throw sandboxErrors.INVALID_FIELD({ details: { field, reason: 'it must be the id of an event' } });
}
