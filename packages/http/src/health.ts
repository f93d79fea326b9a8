import type { Metrics } from '@svc/telemetry';
import type { HttpApp } from './app.ts';

/** One part that must work before traffic is wanted; the answer is `ok` or a word that says what is wrong. */
export type ReadinessCheck = () => Promise<string> | string;

export interface HealthOptions {
  metrics: Metrics;
  checks: Readonly<Record<string, ReadinessCheck>>;
  now: () => Date;
}

/** `/healthz`, `/readyz`, `/metrics`: public by nature, they hold no tenant's data. */
export function registerHealthRoutes(app: HttpApp, options: HealthOptions): void {
  app.get('/healthz', { config: { public: true } }, async () => ({
    status: 'ok',
    timestamp: options.now().toISOString(),
  }));

  app.get('/readyz', { config: { public: true } }, async (_request, reply) => {
    const checks: Record<string, string> = {};
    for (const [name, check] of Object.entries(options.checks)) checks[name] = await runCheck(check);
    const ready = Object.values(checks).every((word) => word === 'ok');
    return reply
      .status(ready ? 200 : 503)
      .send({ status: ready ? 'ready' : 'not_ready', checks, timestamp: options.now().toISOString() });
  });

  app.get('/metrics', { config: { public: true } }, async (_request, reply) => {
    return reply.header('content-type', options.metrics.registry.contentType).send(await options.metrics.render());
  });
}

async function runCheck(check: ReadinessCheck): Promise<string> {
  try {
    return await check();
  } catch {
    return 'failed';
  }
}
