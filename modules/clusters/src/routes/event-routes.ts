import type { HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { eventsKey, type Subscription } from '../domain/changes.ts';
import { pageRequest } from '../domain/paging.ts';
import type { EventFilter, TelemetryStore } from '../domain/telemetry.ts';
import { findCluster, openStream, type RouteContext } from './context.ts';
import { parseLastEventId, sendEvents, wantsEvents, type ServerEvents } from './event-stream.ts';
import { clusterParams, nextCursor, pageQuery } from './parameters.ts';
import { eventSchema, toEventView } from './views.ts';

const PAGE = 100;
const KEEP_ALIVE_MS = 15_000;

/** Events of a cluster: pages, newest first, or a live stream for `Accept: text/event-stream`. */
export function registerEventRoutes(app: HttpApp, context: RouteContext): void {
  app.get(
    '/v1/clusters/:cluster/events',
    {
      config: { action: 'event:read' },
      schema: {
        tags: ['events'],
        summary: 'List the events of a cluster; Accept: text/event-stream streams them, resumable with Last-Event-ID',
        params: clusterParams,
        querystring: Type.Object({
          ...pageQuery,
          event_type: Type.Optional(Type.String({ maxLength: 128 })),
          namespace: Type.Optional(Type.String({ maxLength: 253 })),
        }),
        response: { 200: Type.Object({ events: Type.Array(eventSchema), next_cursor: nextCursor }) },
      },
    },
    async (request, reply) => {
      const cluster = await findCluster(context, request);
      const { event_type: eventType = null, namespace = null } = request.query;
      const filter = { eventType, namespace };
      if (wantsEvents(request)) {
        const lastEventId = parseLastEventId(request);
        const { signal, subscription } = openStream(context, reply, eventsKey(cluster.id));
        const after = lastEventId ?? (await context.telemetry.newestEventSequence(cluster.id));
        return sendEvents(reply, clusterEvents(context.telemetry, cluster.id, filter, after, subscription, signal));
      }
      const found = await context.telemetry.events(cluster.id, filter, pageRequest(request.query, 1));
      return { events: found.items.map(toEventView), next_cursor: found.nextCursor };
    },
  );
}

async function* clusterEvents(
  telemetry: TelemetryStore,
  clusterId: string,
  filter: EventFilter,
  start: number,
  subscription: Subscription,
  signal: AbortSignal,
): ServerEvents {
  let after = start;
  while (!signal.aborted) {
    const events = await telemetry.eventsAfter(clusterId, filter, after, PAGE);
    for (const event of events) {
      after = event.sequence;
      yield { id: event.sequence, event: event.eventType, data: toEventView(event) };
    }
    if (events.length === PAGE) continue;
    await subscription.next(KEEP_ALIVE_MS, signal);
    if (!signal.aborted && events.length === 0) yield null;
  }
}
