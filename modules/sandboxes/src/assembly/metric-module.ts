import type { HttpApp } from '@svc/http';
import type { Metrics } from '@svc/telemetry';
import type { Kysely } from 'kysely';
import type { SandboxesConfig } from '../config.ts';
import type { SandboxContext } from '../domain/context.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { EventRecorder } from '../domain/events/event-recorder.ts';
import type { EventDetails } from '../domain/events/sandbox-event.ts';
import { registerMetricRoutes } from '../routes/metric-routes.ts';
import { MetricSampler, type MetricTotals } from '../domain/metrics/metric-sampler.ts';
import type { MetricStore } from '../domain/metrics/metric-sample.ts';
import { createMetricStore } from '../store/metric-store.ts';
import type { SandboxTables } from '../store/tables.ts';

export interface MetricPart {
  registerRoutes(app: HttpApp, prefixes: readonly string[], service: SandboxService): void;
  /** Registers totals for Prometheus. No label names a sandbox. */
  observe(metrics: Metrics): void;
  start(): void;
  close(): Promise<void>;
  readonly sampler: MetricSampler;
  readonly store: MetricStore;
}

/** Samples, stores and serves the resource usage of running sandboxes. */
export function createMetricPart(
  kysely: Kysely<SandboxTables>,
  context: SandboxContext,
  recorder: EventRecorder,
  config: SandboxesConfig['metrics'],
): MetricPart {
  const { drivers, clock, log, live } = context;
  const store = createMetricStore(kysely);
  const sampler = new MetricSampler({
    stats: (id) => drivers.ofRunning(id).stats(id),
    store,
    clock,
    log,
    running: () => live.ids,
    clusterOf: (id) => drivers.known(id)?.cluster?.id ?? null,
    everyMs: config.sample_every_seconds * 1000,
    keptMs: config.kept_seconds * 1000,
    outOfMemory: (id, details) => void recordOutOfMemory(context, recorder, id, details),
  });
  return {
    registerRoutes(app, prefixes, service) {
      for (const prefix of prefixes) registerMetricRoutes(app, { prefix, service, sampler, store, clock });
    },
    observe(metrics) {
      const used = (name: string, help: string, value: (totals: MetricTotals) => number): void =>
        metrics.observableGauge(name, help, () => value(sampler.totals));
      used('svc_sandboxes_cpu_cores', 'CPU cores used by the sandboxes of this node', (totals) => totals.cpuCores);
      used('svc_sandboxes_memory_bytes', 'Memory used by these sandboxes', (totals) => totals.memoryBytes);
      used('svc_sandboxes_processes', 'Processes running in these sandboxes', (totals) => totals.pids);
      used('svc_sandboxes_disk_bytes', 'Disk space used by these sandboxes', (totals) => totals.diskBytes);
    },
    start: () => sampler.start(),
    close: () => sampler.close(),
    sampler,
    store,
  };
}

async function recordOutOfMemory(
  { repository, log }: SandboxContext,
  recorder: EventRecorder,
  id: string,
  details: EventDetails,
): Promise<void> {
  const sandbox = await repository.find(id).catch((error: unknown) => {
    log.warn({ err: error, sandbox: id }, 'a sandbox that ran out of memory could not be read');
    return null;
  });
  if (sandbox !== null) recorder.record(sandbox, { type: 'oom_killed', details });
}
