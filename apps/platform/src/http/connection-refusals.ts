import type { RefusedConnection } from '@svc/http';
import { TokenBucket } from '@svc/runtime';
import type { Logger, Metrics } from '@svc/telemetry';
import type { ListenFlag } from '../listen.ts';

/** The first refusal of a listener is logged at once, further ones at most once a minute. */
const LOG_RATE = { perMinute: 1, burst: 1 };

/** Counts and logs the connections that a listener closes because their address or network holds its share. */
export function createConnectionRefusals(
  { log, metrics }: { log: Logger; metrics: Metrics },
  nowMs: () => number,
): (flag: ListenFlag) => (refused: RefusedConnection) => void {
  const counter = metrics.counter('svc_connection_refusals_total', 'Connections closed because of a share', ['holder']);
  return (flag) => {
    const bucket = new TokenBucket(LOG_RATE, nowMs());
    return (refused) => {
      counter.inc({ holder: refused.holder });
      if (!bucket.take(nowMs())) return;
      const { remoteAddress: address, holder, held, limit } = refused;
      log.warn(
        { listener: flag, address, holder, held, limit },
        'a connection was refused: add a proxy to trusted_proxies, or raise max_connections',
      );
    };
  };
}
