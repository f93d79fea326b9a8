import { grantOf, type HttpApp, nullable } from '@svc/http';
import { Type, type Static } from 'typebox';
import { readSettings } from '../domain/settings/bucket-settings.ts';
import { PERIOD_MS, periodStart } from '../domain/usage/usage-periods.ts';
import { storeErrors } from '../errors.ts';
import type { UsagePoint, UsageResolution } from '../domain/ports/usage-history.ts';
import { envelope, toTimestamp } from './envelope.ts';
import type { ManagementDeps } from './management-deps.ts';
import {
  createEnvelopeSchema,
  nullableInteger,
  nullableText,
  createQuerySchema,
  TAGS,
  timestamp,
  workspaceParams,
} from './schemas.ts';

/** Periods per response: forty days by hour, or more than two years by day. */
const MOST_POINTS = 1_000;
const DEFAULT_PERIODS: Readonly<Record<UsageResolution, number>> = { hour: 48, day: 30 };

const usageQuery = createQuerySchema({
  bucket: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 63,
      description: 'Bucket to report; default: all buckets of the workspace',
    }),
  ),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'Default: 48 hours, or 30 days, before `to`' })),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Default: now' })),
  resolution: Type.Optional(Type.Union([Type.Literal('hour'), Type.Literal('day')], { default: 'day' })),
});

const pointView = Type.Object({
  at: Type.String({ format: 'date-time', description: 'Start of the hour or day, UTC' }),
  object_count: Type.Integer({ description: 'At the end of the period, or at the last measurement before that' }),
  size_bytes: Type.Integer({ description: 'At the end of the period, or at the last measurement before that' }),
  request_count: Type.Integer({ description: 'Requests within the period' }),
  bytes_in: Type.Integer({ description: 'Bytes of request bodies within the period, as sent' }),
  bytes_out: Type.Integer({ description: 'Bytes of response bodies within the period' }),
});

const usageView = Type.Object({
  bucket: nullableText,
  resolution: Type.Union([Type.Literal('hour'), Type.Literal('day')]),
  from: timestamp,
  to: timestamp,
  quota: nullable(Type.Object({ max_bytes: nullableInteger, max_objects: nullableInteger })),
  points: Type.Array(pointView, {
    description:
      'In order of time. Periods in which the platform was not running or the bucket did not exist have no point.',
  }),
});

/** Storage and traffic over time. */
export function registerUsageRoutes(app: HttpApp, { services }: ManagementDeps): void {
  const { buckets, configurations, deps } = services;

  app.get(
    '/usage',
    {
      config: { action: 'store:read' },
      schema: {
        tags: TAGS,
        summary: 'Get usage over time of the workspace or of one bucket',
        description:
          'Counts requests that reached the bucket through S3, a custom domain, a public URL, or as an upload or ' +
          'download of this API.',
        params: workspaceParams,
        querystring: usageQuery,
        response: { 200: createEnvelopeSchema(usageView) },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const { bucket: name, resolution = 'day' } = request.query;
      const { fromMs, toMs } = parseSpan(request.query, resolution, deps.clock.nowMs());
      const bucket = name === undefined ? null : await buckets.getOwn(name, workspaceUuid);
      const bucketId = bucket?.id ?? null;
      const span = { workspaceUuid, bucketId, resolution, fromMs, toMs, limit: MOST_POINTS };
      const points = await deps.metadata.usageHistory(span);
      let quota: Static<typeof usageView>['quota'] = null;
      if (bucket !== null) {
        const settings = readSettings(await configurations.of(bucket), deps.config.soft_delete_days);
        quota = { max_bytes: settings.quota.maxBytes, max_objects: settings.quota.maxObjects };
      }
      const [from, to] = [toTimestamp(fromMs), toTimestamp(toMs)];
      return envelope('Usage', {
        bucket: bucket?.name ?? null,
        resolution,
        from,
        to,
        quota,
        points: points.map(toView),
      });
    },
  );
}

/** The requested span, extended to the start of its first period. */
function parseSpan({ from, to }: Static<typeof usageQuery>, resolution: UsageResolution, nowMs: number) {
  const toMs = to === undefined ? nowMs : parseTime('to', to);
  const asked =
    from === undefined ? toMs - (DEFAULT_PERIODS[resolution] - 1) * PERIOD_MS[resolution] : parseTime('from', from);
  const fromMs = periodStart(asked, resolution);
  if (fromMs >= toMs) throw invalid('from', 'must be before `to`');
  if ((toMs - fromMs) / PERIOD_MS[resolution] > MOST_POINTS) {
    throw invalid('from', `must be at most ${MOST_POINTS} periods before \`to\``);
  }
  return { fromMs, toMs };
}

/** The schema checks the format; this rejects dates that do not exist and times before 1970. */
function parseTime(field: string, text: string): number {
  const timeMs = Date.parse(text);
  if (Number.isFinite(timeMs) && timeMs >= 0) return timeMs;
  throw invalid(field, 'must be a time since 1970');
}

function invalid(field: string, reason: string): Error {
  return storeErrors.InvalidArgument({ details: { field, reason: `${field} ${reason}` } });
}

function toView(point: UsagePoint): Static<typeof pointView> {
  return {
    at: toTimestamp(point.periodStartMs),
    object_count: point.objectCount,
    size_bytes: point.sizeBytes,
    request_count: point.requestCount,
    bytes_in: point.bytesIn,
    bytes_out: point.bytesOut,
  };
}
