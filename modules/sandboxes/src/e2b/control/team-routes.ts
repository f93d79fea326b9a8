import { grantOf, type HttpApp } from '@svc/http';
import type { Clock } from '@svc/runtime';
import { Type } from 'typebox';
import type { EventLog } from '../../domain/events/event-log.ts';
import { oldestFirst } from '../../domain/events/event-pages.ts';
import { deriveActivity, type ActivityStep, type TimeSpan } from '../../domain/events/workspace-activity.ts';
import { sandboxErrors } from '../../errors.ts';

const DEFAULT_SPAN_SECONDS = 3600;
const MAX_TIMESTAMP_SECONDS = 253_402_300_799;

const seconds = Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_TIMESTAMP_SECONDS }));
/** The guard authorizes the workspace that this parameter names. */
const params = Type.Object({ workspace_uuid: Type.String({ maxLength: 100 }) });
const spanQuery = Type.Object({ start: seconds, end: seconds });
const maximumQuery = Type.Object({
  start: seconds,
  end: seconds,
  metric: Type.Union([Type.Literal('concurrent_sandboxes'), Type.Literal('sandbox_start_rate')]),
});

export interface TeamRouteDeps {
  readonly prefix: string;
  readonly clock: Clock;
  readonly eventLog: EventLog;
}

/** What clients call a team is a workspace here. */
export function registerTeamRoutes(app: HttpApp, { prefix, clock, eventLog }: TeamRouteDeps): void {
  const config = { action: 'sandbox:list' } as const;
  app.get(`${prefix}/teams`, { config, schema: { hide: true } }, async (request) => {
    const { workspaceUuid } = grantOf(request);
    return [{ teamID: workspaceUuid, name: workspaceUuid, apiKey: '', isDefault: true }];
  });

  const measure = (workspaceUuid: string, asked: Partial<TimeSpan>): Promise<ActivityStep[]> => {
    const scope = { workspaceUuid, sandboxId: null };
    return deriveActivity(oldestFirst(eventLog, scope), spanOf(asked, clock.nowMs()));
  };
  app.get(
    `${prefix}/teams/:workspace_uuid/metrics`,
    { config, schema: { hide: true, params, querystring: spanQuery } },
    async (request) => {
      const steps = await measure(grantOf(request).workspaceUuid, request.query);
      return steps.map(({ at, concurrent, startsPerSecond }) => ({
        ...renderTime(at),
        concurrentSandboxes: concurrent,
        sandboxStartRate: startsPerSecond,
      }));
    },
  );
  app.get(
    `${prefix}/teams/:workspace_uuid/metrics/max`,
    { config, schema: { hide: true, params, querystring: maximumQuery } },
    async (request) => {
      const { metric, ...asked } = request.query;
      const steps = await measure(grantOf(request).workspaceUuid, asked);
      const valueOf = (step: ActivityStep): number =>
        metric === 'concurrent_sandboxes' ? step.concurrent : step.startsPerSecond;
      const { start } = spanOf(asked, clock.nowMs());
      const first = { at: start, value: 0 };
      const { at, value } = steps.reduce(
        (most, step) => (valueOf(step) > most.value ? { at: step.at, value: valueOf(step) } : most),
        first,
      );
      return { ...renderTime(at), value };
    },
  );
}

/** The last hour by default. Nothing is known of the future. */
function spanOf({ start, end }: Partial<TimeSpan>, nowMs: number): TimeSpan {
  const now = Math.floor(nowMs / 1000) + 1;
  const until = Math.min(end ?? now, now);
  const from = start ?? until - DEFAULT_SPAN_SECONDS;
  if (end !== undefined && from > end) {
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'start', reason: 'it must not be after end' } });
  }
  return { start: from, end: until };
}

function renderTime(at: number) {
  return { timestamp: new Date(at * 1000).toISOString(), timestampUnix: at };
}
