import { grantOf, nullable, principalOf, WITHOUT_NUL, type HttpApp, type RateLimiter } from '@svc/http';
import { Type, type Static } from 'typebox';
import { EVENT_TYPES } from '../domain/events/sandbox-event.ts';
import type { SandboxWebhook, WebhookDelivery, WebhookSettings } from '../domain/webhooks/webhook.ts';
import type { Attempt, WebhookService } from '../domain/webhooks/webhook-service.ts';
import { sandboxErrors } from '../errors.ts';
import { takeOrRefuse } from './per-minute.ts';
import { goneSignal } from './request-signal.ts';
import { workspaceQuery, workspaceQuerySchema } from './schemas.ts';

const tags = ['webhooks'];
const querystring = workspaceQuerySchema;
const params = Type.Object({ id: Type.String({ maxLength: 64 }) });
const MOST_URL_CHARACTERS = 2048;
const DEFAULT_PAGE_SIZE = 100;

const settings = {
  url: Type.String({
    maxLength: MOST_URL_CHARACTERS,
    pattern: WITHOUT_NUL,
    description: 'Receiver of the requests; http or https, at a public address unless the operator allows others',
  }),
  description: Type.String({ maxLength: 200, pattern: WITHOUT_NUL }),
  events: nullable(
    Type.Array(Type.Enum([...EVENT_TYPES]), {
      minItems: 1,
      maxItems: EVENT_TYPES.length,
      uniqueItems: true,
      description: 'Types of events to send; null for all',
    }),
  ),
  enabled: Type.Boolean({ description: 'A webhook that is enabled again receives only new events' }),
};

const createBody = Type.Object(
  {
    url: settings.url,
    description: Type.Optional(settings.description),
    events: Type.Optional(settings.events),
    enabled: Type.Optional(settings.enabled),
  },
  { additionalProperties: false },
);
const updateBody = Type.Partial(Type.Object(settings), { additionalProperties: false, minProperties: 1 });

const timestamp = Type.String({ format: 'date-time' });

const webhookSchema = Type.Object({
  id: Type.String(),
  ...settings,
  disabled_reason: nullable(Type.String({ description: 'Why the platform disabled it' })),
  failing_since: nullable(
    Type.String({ format: 'date-time', description: 'Time of the first failure since a success' }),
  ),
  last_error: nullable(Type.String()),
  missed_events: Type.Integer({ description: 'Events that were removed from the log before they were delivered' }),
  created_at: timestamp,
  updated_at: timestamp,
});

const secretSchema = Type.String({
  description: 'Signs requests, in the format of Standard Webhooks: whsec_ and base64. Shown only now',
});
const createdSchema = Type.Object({ ...webhookSchema.properties, secret: secretSchema });

const deliverySchema = Type.Object({
  event_id: Type.Integer({ description: 'Number of the event' }),
  sandbox_id: Type.String(),
  type: Type.Enum([...EVENT_TYPES]),
  state: Type.Enum(['delivered', 'retrying', 'dropped'], {
    description: 'dropped: not delivered before the event was too old',
  }),
  attempts: Type.Integer(),
  attempted_at: timestamp,
  next_attempt_at: nullable(timestamp),
  status: nullable(Type.Integer({ description: 'HTTP status of the last response' })),
  error: nullable(Type.String()),
});

const deliveryPage = Type.Object({
  deliveries: Type.Array(deliverySchema),
  count: Type.Integer(),
  next_cursor: nullable(Type.String()),
});

const attemptSchema = Type.Object({
  delivered: Type.Boolean(),
  status: nullable(Type.Integer({ description: 'HTTP status of the response' })),
  error: nullable(Type.String()),
});

/** Deliveries that callers ask for, of all webhooks of a workspace. */
export const WEBHOOK_ATTEMPTS_PER_MINUTE = 60;

export interface WebhookRouteDeps {
  readonly webhooks: WebhookService;
  /** Timeout of one delivery. */
  readonly timeoutSeconds: number;
  /** Limits the deliveries that callers ask for, by workspace. */
  readonly attemptLimiter: RateLimiter;
}

/** `/api/webhooks`: webhooks for events of a workspace's sandboxes. */
export function registerWebhookRoutes(app: HttpApp, deps: WebhookRouteDeps): void {
  const { webhooks } = deps;
  registerReads(app, webhooks);
  registerChanges(app, webhooks);
  registerSecretRoute(app, webhooks);
  registerAttempts(app, deps);
}

function registerReads(app: HttpApp, webhooks: WebhookService): void {
  app.get(
    '/api/webhooks',
    {
      config: { action: 'webhook:list' },
      schema: {
        tags,
        summary: 'List webhooks of sandbox events, without their secrets',
        querystring,
        response: { 200: Type.Object({ webhooks: Type.Array(webhookSchema), count: Type.Integer() }) },
      },
    },
    async (request) => {
      const found = (await webhooks.list(grantOf(request).workspaceUuid)).map(render);
      return { webhooks: found, count: found.length };
    },
  );
  app.get(
    '/api/webhooks/:id',
    {
      config: { action: 'webhook:list' },
      schema: { tags, summary: 'Get a webhook', params, querystring, response: { 200: webhookSchema } },
    },
    async (request) => render(await webhooks.get(grantOf(request).workspaceUuid, request.params.id)),
  );
  app.get(
    '/api/webhooks/:id/deliveries',
    {
      config: { action: 'webhook:list' },
      schema: {
        tags,
        summary: 'List the last deliveries of a webhook, newest event first',
        params,
        querystring: Type.Object({
          ...workspaceQuery,
          cursor: Type.Optional(Type.String({ pattern: '^\\d{1,15}$' })),
          page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: '100 by default' })),
        }),
        response: { 200: deliveryPage },
      },
    },
    async (request) => {
      const { cursor, page_size: pageSize = DEFAULT_PAGE_SIZE } = request.query;
      const below = cursor === undefined ? null : Number(cursor);
      const { workspaceUuid } = grantOf(request);
      const found = await webhooks.deliveries(workspaceUuid, request.params.id, below, pageSize + 1);
      const shown = found.slice(0, pageSize);
      const last = shown.at(-1);
      const hasMore = found.length > pageSize && last !== undefined;
      return {
        deliveries: shown.map(renderDelivery),
        count: shown.length,
        next_cursor: hasMore ? String(last.sequence) : null,
      };
    },
  );
}

function registerChanges(app: HttpApp, webhooks: WebhookService): void {
  app.post(
    '/api/webhooks',
    {
      config: { action: 'webhook:create' },
      schema: {
        tags,
        summary: 'Create a webhook; its secret is returned only once',
        querystring,
        body: createBody,
        response: { 201: createdSchema },
      },
    },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      const { id: creatorId } = principalOf(request);
      const { url, description = '', events = null, enabled = true } = request.body;
      const made = await webhooks.create({ workspaceUuid, creatorId, url, description, events, enabled });
      reply.header('cache-control', 'no-store').header('location', `/api/webhooks/${made.webhook.id}`);
      return reply.status(201).send({ ...render(made.webhook), secret: made.secret });
    },
  );
  app.patch(
    '/api/webhooks/:id',
    {
      config: { action: 'webhook:update' },
      schema: {
        tags,
        summary: 'Change a webhook',
        params,
        querystring,
        body: updateBody,
        response: { 200: webhookSchema },
      },
    },
    async (request) => {
      const change: Partial<WebhookSettings> = request.body;
      return render(await webhooks.update(grantOf(request).workspaceUuid, request.params.id, change));
    },
  );
  app.delete(
    '/api/webhooks/:id',
    {
      config: { action: 'webhook:delete' },
      schema: {
        tags,
        summary: 'Delete a webhook and its deliveries',
        params,
        querystring,
        response: { 200: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }) },
      },
    },
    async (request) => {
      const { id } = request.params;
      await webhooks.remove(grantOf(request).workspaceUuid, id);
      return { id, deleted: true as const };
    },
  );
}

function registerSecretRoute(app: HttpApp, webhooks: WebhookService): void {
  app.post(
    '/api/webhooks/:id/secret',
    {
      config: { action: 'webhook:update' },
      schema: {
        tags,
        summary: 'Rotate the signing secret; the previous one also signs for one day',
        params,
        querystring,
        response: { 200: Type.Object({ secret: secretSchema, previous_valid_until: timestamp }) },
      },
    },
    async (request, reply) => {
      const made = await webhooks.rotateSecret(grantOf(request).workspaceUuid, request.params.id);
      reply.header('cache-control', 'no-store');
      return { secret: made.secret, previous_valid_until: made.previousValidUntil };
    },
  );
}

function registerAttempts(app: HttpApp, { webhooks, timeoutSeconds, attemptLimiter }: WebhookRouteDeps): void {
  const description =
    `Limit: ${WEBHOOK_ATTEMPTS_PER_MINUTE} per minute and workspace, tests and redeliveries together. ` +
    'Beyond it: 429 RATE_LIMITED with Retry-After.';
  const limit = (signal: AbortSignal): AbortSignal =>
    AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1_000)]);
  app.post(
    '/api/webhooks/:id/test',
    {
      config: { action: 'webhook:update' },
      schema: {
        tags,
        summary: 'Send an event of the type test now and return the result',
        description,
        params,
        querystring,
        response: { 200: attemptSchema },
      },
    },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      takeOrRefuse(attemptLimiter, workspaceUuid);
      const signal = limit(goneSignal(reply));
      return renderAttempt(await webhooks.test(workspaceUuid, request.params.id, request.id, signal));
    },
  );
  app.post(
    '/api/webhooks/:id/deliveries/:event/redeliver',
    {
      config: { action: 'webhook:update' },
      schema: {
        tags,
        summary: 'Send a stored event again, now, and return the result',
        description,
        params: Type.Object({ ...params.properties, event: Type.String({ maxLength: 20 }) }),
        querystring,
        response: { 200: attemptSchema },
      },
    },
    async (request, reply) => {
      const { id, event } = request.params;
      if (!/^[1-9]\d{0,14}$/.test(event)) throw sandboxErrors.EVENT_NOT_FOUND({ details: { id: event } });
      const { workspaceUuid } = grantOf(request);
      takeOrRefuse(attemptLimiter, workspaceUuid);
      return renderAttempt(await webhooks.redeliver(workspaceUuid, id, Number(event), limit(goneSignal(reply))));
    },
  );
}

function render(webhook: SandboxWebhook): Static<typeof webhookSchema> {
  return {
    id: webhook.id,
    url: webhook.url,
    description: webhook.description,
    events: webhook.events === null ? null : [...webhook.events],
    enabled: webhook.enabled,
    disabled_reason: webhook.disabledReason,
    failing_since: timestampOrNull(webhook.failingSinceMs),
    last_error: webhook.lastError,
    missed_events: webhook.missed,
    created_at: webhook.createdAt,
    updated_at: webhook.updatedAt,
  };
}

function renderDelivery(delivery: WebhookDelivery): Static<typeof deliverySchema> {
  return {
    event_id: delivery.sequence,
    sandbox_id: delivery.sandboxId,
    type: delivery.type,
    state: delivery.state,
    attempts: delivery.attempts,
    attempted_at: delivery.attemptedAt,
    next_attempt_at: timestampOrNull(delivery.state === 'retrying' ? delivery.nextAttemptAtMs : null),
    status: delivery.status,
    error: delivery.error,
  };
}

function renderAttempt({ status, error }: Attempt): Static<typeof attemptSchema> {
  return { delivered: error === null, status, error };
}

function timestampOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}
