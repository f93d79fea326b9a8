import type { Metrics } from '@svc/telemetry';
import type { SandboxDriver } from '../domain/driver.ts';

/** Reports zeros for a driver without prepared starts. */
export function observePreparedStarts(metrics: Metrics, driver: SandboxDriver): void {
  const ready = metrics.gauge('svc_sandbox_prepared_starts_ready', 'Starts that are made ahead by half and wait');
  const target = metrics.gauge('svc_sandbox_prepared_starts_target', 'How many should wait');
  const claims = metrics.counter(
    'svc_sandbox_prepared_starts_claims_total',
    'Creates without a warm sandbox, by whether a prepared start was there for them',
    ['outcome'],
  );
  const collect = (): void => {
    const figures = driver.preparedStarts?.figures() ?? { ready: 0, target: 0, hits: 0, misses: 0 };
    ready.set(figures.ready);
    target.set(figures.target);
    claims.reset();
    claims.inc({ outcome: 'hit' }, figures.hits);
    claims.inc({ outcome: 'miss' }, figures.misses);
  };
  Object.assign(ready, { collect });
}
