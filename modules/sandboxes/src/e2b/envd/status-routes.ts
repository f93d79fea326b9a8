import type { HttpApp } from '@svc/http';
import type { MetricSampler } from '../../domain/metrics/metric-sampler.ts';
import { toSampleView } from '../control/other-routes.ts';
import { sandboxOf, type EnvdAdmission } from './envd-admission.ts';

const MEBIBYTE = 1024 * 1024;

export interface StatusDeps {
  readonly prefix: string;
  readonly admission: EnvdAdmission;
  readonly sampler: MetricSampler;
}

/** `/health`, `/metrics` and `/envs` of the data plane. */
export function registerStatusRoutes(app: HttpApp, { prefix, admission, sampler }: StatusDeps): void {
  const config = { action: 'sandbox:read', grantedEarlier: admission.byToken } as const;
  const schema = { hide: true };
  app.get(`${prefix}/health`, { config: { ...config, wakes: false }, schema }, (_request, reply) =>
    reply.status(204).send(),
  );
  app.get(`${prefix}/envs`, { config, schema }, async (request) => sandboxOf(request).environment);
  app.get(`${prefix}/metrics`, { config, schema }, async (request) => {
    const sandbox = sandboxOf(request);
    const sample = toSampleView(await sampler.current(sandbox.id), sandbox);
    return {
      ts: sample.timestampUnix,
      cpu_count: sample.cpuCount,
      cpu_used_pct: sample.cpuUsedPct,
      mem_total: sample.memTotal,
      mem_used: sample.memUsed,
      mem_cache: sample.memCache,
      mem_total_mib: Math.floor(sample.memTotal / MEBIBYTE),
      mem_used_mib: Math.floor(sample.memUsed / MEBIBYTE),
      disk_used: sample.diskUsed,
      disk_total: sample.diskTotal,
    };
  });
}
