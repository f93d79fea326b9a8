import { isAppError } from '@svc/errors';
import { grantOf, principalOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import type { MetricSample, MetricStore } from '../../domain/metrics/metric-sample.ts';
import type { MetricSampler } from '../../domain/metrics/metric-sampler.ts';
import type { Sandbox } from '../../domain/sandbox.ts';
import { NAME_PATTERN } from '../../domain/identifiers.ts';
import { creatorFields, snapshotLimitOf } from '../../routes/create-request.ts';
import { toSnapshotView } from './create-body.ts';
import { listOfTexts, textsOf } from './query-lists.ts';
import { e2bIdParams, type ControlDeps } from './sandbox-routes.ts';
import { findSandbox } from './sandbox-finder.ts';
import { fromE2bId } from '../sandbox-ids.ts';

const MAX_PAGE_SIZE = 100;
const MAX_SAMPLES = 10_000;
const DEFAULT_SPAN_SECONDS = 3600;
const MEBIBYTE = 1024 * 1024;

export interface OtherDeps extends ControlDeps {
  readonly sampler: MetricSampler;
  readonly metrics: MetricStore;
}

/** Snapshots, metrics, and health. */
export function registerOtherRoutes(app: HttpApp, deps: OtherDeps): void {
  registerSnapshots(app, deps);
  registerMetrics(app, deps);
  const { prefix } = deps;
  // Says nothing but that the platform responds.
  app.get(`${prefix}/health`, { config: { public: true }, schema: { hide: true } }, async () => ({ status: 'ok' }));
}

function registerSnapshots(
  app: HttpApp,
  { prefix, service, clock, snapshots, config, createLimiter }: OtherDeps,
): void {
  const body = Type.Optional(
    Type.Union([Type.Object({ name: Type.Optional(Type.String({ pattern: NAME_PATTERN })) }), Type.Null()]),
  );
  app.post(
    `${prefix}/sandboxes/:id/snapshots`,
    { config: { action: 'sandbox:update', answersLate: true }, schema: { hide: true, params: e2bIdParams, body } },
    async (request, reply) => {
      const principal = principalOf(request);
      await createLimiter.admit(principal, grantOf(request).workspaceUuid);
      const { workspaceUuid } = grantOf(request);
      const { id: sandboxId } = await findSandbox(service, clock, workspaceUuid, request.params.id);
      const wanted = { workspaceUuid, maker: creatorFields(principal), sandboxId, name: request.body?.name ?? null };
      const made = await snapshots.create(wanted, snapshotLimitOf(principal, config));
      return reply.status(201).send(toSnapshotView(made));
    },
  );

  const querystring = Type.Object({
    sandboxID: Type.Optional(Type.String({ maxLength: 100 })),
    name: Type.Optional(Type.String({ maxLength: 100 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE })),
    nextToken: Type.Optional(Type.String({ maxLength: 200 })),
  });
  app.get(
    `${prefix}/snapshots`,
    { config: { action: 'sandbox:list' }, schema: { hide: true, querystring } },
    async (request, reply) => {
      const { sandboxID, name, limit, nextToken } = request.query;
      const page = await snapshots.list(grantOf(request).workspaceUuid, {
        sandboxId: sandboxID === undefined ? null : (fromE2bId(sandboxID) ?? sandboxID),
        name,
        pageSize: limit ?? MAX_PAGE_SIZE,
        cursor: nextToken ?? null,
      });
      if (page.nextCursor !== null) reply.header('x-next-token', page.nextCursor);
      return page.snapshots.map(toSnapshotView);
    },
  );
}

function registerMetrics(app: HttpApp, { prefix, service, clock, sampler, metrics }: OtherDeps): void {
  const seconds = Type.Optional(Type.Integer({ minimum: 0, maximum: 253_402_300_799 }));
  app.get(
    `${prefix}/sandboxes/:id/metrics`,
    {
      config: { action: 'sandbox:read' },
      schema: { hide: true, params: e2bIdParams, querystring: Type.Object({ start: seconds, end: seconds }) },
    },
    async (request) => {
      const sandbox = await findSandbox(service, clock, grantOf(request).workspaceUuid, request.params.id);
      const nowSeconds = Math.floor(clock.nowMs() / 1000);
      const { start = nowSeconds - DEFAULT_SPAN_SECONDS, end = nowSeconds + 1 } = request.query;
      const until = new Date(end * 1000).toISOString();
      const samples = await metrics.since(sandbox.id, new Date(start * 1000).toISOString(), MAX_SAMPLES);
      return samples.filter(({ at }) => at <= until).map((sample) => toSampleView(sample, sandbox));
    },
  );

  app.get(
    `${prefix}/sandboxes/metrics`,
    {
      config: { action: 'sandbox:list' },
      schema: { hide: true, querystring: Type.Object({ sandbox_ids: listOfTexts }) },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const ids = textsOf(request.query.sandbox_ids).slice(0, MAX_PAGE_SIZE);
      const measured = ids.map(async (id) => {
        const sandbox = await findSandbox(service, clock, workspaceUuid, id).catch(absentIfUnknown);
        if (sandbox?.status !== 'running') return [];
        return [[id, toSampleView(await sampler.current(sandbox.id), sandbox)] as const];
      });
      return { sandboxes: Object.fromEntries((await Promise.all(measured)).flat()) };
    },
  );
}

function absentIfUnknown(error: unknown): null {
  if (isAppError(error) && error.code === 'SANDBOX_NOT_FOUND') return null;
  throw error;
}

/** Clients need numbers; what cannot be measured here is 0. */
export function toSampleView({ at, cpuCores, memoryBytes, diskBytes }: MetricSample, { resources }: Sandbox) {
  const cpuCount = resources.cpuMillis / 1000;
  return {
    timestamp: at,
    timestampUnix: Math.floor(Date.parse(at) / 1000),
    cpuCount: Math.max(1, Math.ceil(cpuCount)),
    cpuUsedPct: Math.round(((cpuCores ?? 0) / cpuCount) * 10_000) / 100,
    memUsed: memoryBytes ?? 0,
    memTotal: resources.memoryMb * MEBIBYTE,
    memCache: 0,
    diskUsed: diskBytes ?? 0,
    diskTotal: resources.diskMb * MEBIBYTE,
  };
}
