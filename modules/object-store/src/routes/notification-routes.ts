import { grantOf, type HttpApp } from '@svc/http';
import { isAppError } from '@svc/errors';
import type { Static } from 'typebox';
import type { NotificationRule } from '../domain/notifications/notification-document.ts';
import type { WebhookSecrets } from '../domain/notifications/notification-service.ts';
import type { BucketRecord } from '../domain/ports/records.ts';
import { bucketResource } from './audit-names.ts';
import { envelope, toTimestamp } from './envelope.ts';
import type { ManagementDeps } from './management-deps.ts';
import {
  notificationRules,
  notificationsView,
  redeliverBody,
  redeliverView,
  secretView,
  testBody,
  testView,
} from './notification-schemas.ts';
import { bucketParams, createEnvelopeSchema, TAGS, teamQuery } from './schemas.ts';

const route = { tags: TAGS, params: bucketParams, querystring: teamQuery };
const update = { action: 'bucket:update', auditResource: bucketResource } as const;

/** Notification rules of a bucket, their signing secret and the state of deliveries. */
export function registerNotificationRoutes(app: HttpApp, management: ManagementDeps): void {
  registerRuleRoutes(app, management);
  registerSecretRoutes(app, management);
  registerDeliveryRoutes(app, management);
}

function registerRuleRoutes(app: HttpApp, { services }: ManagementDeps): void {
  const { buckets, notifications } = services;
  const response = { 200: createEnvelopeSchema(notificationsView) };
  const view = async (bucket: BucketRecord): Promise<Static<typeof notificationsView>> => {
    const { delivery, failed } = await notifications.state(bucket);
    return {
      rules: (await notifications.rules(bucket)).map((rule) => ({ ...rule, events: [...rule.events] })),
      delivery: {
        waiting: delivery.waiting,
        oldest_waiting_at: timestampOrNull(delivery.oldestWaitingAtMs),
        next_attempt_at: timestampOrNull(delivery.nextAttemptAtMs),
        last_error: delivery.lastError,
        failed: delivery.failed,
      },
      failed: failed.map(({ id, destination, key, event, attempts, failedAtMs, lastError }) => ({
        id,
        rule: destination,
        event: event.name,
        key,
        version_id: event.versionId,
        occurred_at: toTimestamp(event.timeMs),
        failed_at: toTimestamp(failedAtMs),
        attempts,
        error: lastError,
      })),
    };
  };

  app.get(
    '/buckets/:name/notifications',
    {
      config: { action: 'bucket:read' },
      schema: { ...route, summary: 'List the webhook rules of a bucket and their delivery status', response },
    },
    async (request) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      return envelope('Notifications', await view(bucket));
    },
  );

  app.put(
    '/buckets/:name/notifications',
    {
      config: update,
      schema: {
        ...route,
        summary: 'Replace the webhook rules; an empty list turns notifications off',
        body: notificationRules,
        response,
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const find = (): Promise<BucketRecord> => buckets.getOwn(request.params.name, workspaceUuid);
      await notifications.replaceRules(find, request.body.rules.map(toRule));
      return envelope('Notifications changed', await view(await find()));
    },
  );
}

function registerSecretRoutes(app: HttpApp, { services }: ManagementDeps): void {
  const { buckets, notifications } = services;
  const response = { 200: createEnvelopeSchema(secretView) };

  app.get(
    '/buckets/:name/notifications/secret',
    {
      config: { ...update, audit: true },
      schema: { ...route, summary: 'Get the signing secret of a bucket’s webhooks', response },
    },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      reply.header('cache-control', 'no-store');
      const found = await notifications.secrets(() => buckets.getOwn(request.params.name, workspaceUuid));
      return envelope('Secret', toSecretView(found));
    },
  );

  app.post(
    '/buckets/:name/notifications/secret',
    {
      config: update,
      schema: { ...route, summary: 'Rotate the signing secret; the previous one also signs for one day', response },
    },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      reply.header('cache-control', 'no-store');
      const made = await notifications.changeSecret(() => buckets.getOwn(request.params.name, workspaceUuid));
      return envelope('Secret changed', toSecretView(made));
    },
  );
}

function registerDeliveryRoutes(app: HttpApp, { services }: ManagementDeps): void {
  const { buckets, notifications } = services;

  app.post(
    '/buckets/:name/notifications/test',
    {
      config: update,
      schema: {
        ...route,
        summary: 'Send a test event now and return the result',
        body: testBody,
        response: { 200: createEnvelopeSchema(testView) },
      },
    },
    async (request) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      const signal = AbortSignal.timeout(services.deps.config.notifications.timeout_seconds * 1_000);
      try {
        await notifications.test(bucket, request.body.rule ?? null, request.id, signal);
        return envelope('Delivered', { delivered: true, error: null });
      } catch (error) {
        if (!isAppError(error) || error.code !== 'WebhookRefused') throw error;
        return envelope('Not delivered', { delivered: false, error: error.message });
      }
    },
  );

  app.post(
    '/buckets/:name/notifications/redeliver',
    {
      config: update,
      schema: {
        ...route,
        summary: 'Redeliver failed events',
        body: redeliverBody,
        response: { 200: createEnvelopeSchema(redeliverView) },
      },
    },
    async (request) => {
      const bucket = await buckets.getOwn(request.params.name, grantOf(request).workspaceUuid);
      return envelope('Waiting again', { count: await notifications.retry(bucket, request.body.ids) });
    },
  );
}

function toRule(given: Static<typeof notificationRules>['rules'][number]): NotificationRule {
  return { enabled: true, prefix: '', suffix: '', ...given };
}

function toSecretView({ secret, previousValidUntilMs }: WebhookSecrets): Static<typeof secretView> {
  return { secret, previous_valid_until: timestampOrNull(previousValidUntilMs) };
}

function timestampOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : toTimestamp(timeMs);
}
