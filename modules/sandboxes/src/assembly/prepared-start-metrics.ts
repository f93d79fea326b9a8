import type { Metrics } from '@svc/telemetry';
import type { SandboxDriver } from '../domain/driver.ts';

/** Reports zeros for a driver without prepared starts. */
export function observePreparedStarts(metrics: Metrics, driver: SandboxDriver): void {
  const ready = metrics.gauge('svc_sandbox_prepared_starts_ready', 'Prepared starts that are ready');
  const target = metrics.gauge('svc_sandbox_prepared_starts_target', 'Target number of prepared starts');
  const claims = metrics.counter(
    'svc_sandbox_prepared_starts_claims_total',
    'Creates without a warm sandbox, by whether a prepared start was ready',
    ['outcome'],
  );
  metrics.onScrape(() => {
    const figures = driver.preparedStarts?.figures() ?? { ready: 0, target: 0, hits: 0, misses: 0 };
    ready.set(figures.ready);
    target.set(figures.target);
    claims.reset();
    claims.inc({ outcome: 'hit' }, figures.hits);
    claims.inc({ outcome: 'miss' }, figures.misses);
  });
}
