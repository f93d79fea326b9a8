import { grantOf, type HttpApp } from '@svc/http';
import type { Clock } from '@svc/runtime';
import { type Static, Type } from 'typebox';
import type { Sandbox } from '../domain/sandbox.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { MetricSample, MetricStore } from '../domain/metrics/metric-sample.ts';
import type { MetricSampler } from '../domain/metrics/metric-sampler.ts';
import { idParamsSchema, workspaceQuery } from './schemas.ts';

const DEFAULT_SPAN_MS = 3_600_000;
/** If there are more, the newest are returned. */
const MAX_SAMPLES = 10_000;
const MEBIBYTE = 1024 * 1024;

const numberOrNull = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

const sampleSchema = Type.Object({
  at: Type.String({ format: 'date-time' }),
  cpu_cores: numberOrNull('CPUs, averaged since the previous sample'),
  memory_bytes: numberOrNull('Memory in use, page cache included'),
  memory_limit_bytes: Type.Integer(),
  pids: numberOrNull('Processes and threads'),
  disk_bytes: numberOrNull('Bytes used on its disk'),
  disk_limit_bytes: Type.Integer(),
});

export interface MetricRoutesOptions {
  readonly prefix: string;
  readonly service: SandboxService;
  readonly sampler: MetricSampler;
  readonly store: MetricStore;
  readonly clock: Clock;
}

export function registerMetricRoutes(app: HttpApp, options: MetricRoutesOptions): void {
  const { prefix, service, sampler, store, clock } = options;
  app.get(
    `${prefix}/:id/metrics`,
    {
      config: { action: 'sandbox:read' },
      schema: {
        tags: ['sandboxes'],
        summary: 'Get the current and recent resource usage of a sandbox; unknown numbers are null',
        params: idParamsSchema,
        querystring: Type.Object({
          ...workspaceQuery,
          since: Type.Optional(
            Type.String({ format: 'date-time', description: 'Samples after this instant; the last hour by default' }),
          ),
        }),
        response: { 200: Type.Object({ current: sampleSchema, samples: Type.Array(sampleSchema) }) },
      },
    },
    async (request) => {
      const sandbox = await service.get(grantOf(request).workspaceUuid, request.params.id);
      const now = clock.now();
      const { since } = request.query;
      const after = since === undefined ? new Date(now.getTime() - DEFAULT_SPAN_MS) : new Date(since);
      const [current, samples] = await Promise.all([
        sandbox.status === 'running' ? sampler.current(sandbox.id) : nothing(now),
        store.since(sandbox.id, after.toISOString(), MAX_SAMPLES),
      ]);
      return { current: render(current, sandbox), samples: samples.map((sample) => render(sample, sandbox)) };
    },
  );
}

function nothing(now: Date): MetricSample {
  return { at: now.toISOString(), cpuCores: null, memoryBytes: null, pids: null, diskBytes: null };
}

function render(sample: MetricSample, { resources }: Sandbox): Static<typeof sampleSchema> {
  return {
    at: sample.at,
    cpu_cores: sample.cpuCores,
    memory_bytes: sample.memoryBytes,
    memory_limit_bytes: resources.memoryMb * MEBIBYTE,
    pids: sample.pids,
    disk_bytes: sample.diskBytes,
    disk_limit_bytes: resources.diskMb * MEBIBYTE,
  };
}
