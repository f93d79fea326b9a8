import type { ServiceStates } from '../http/status-routes.ts';
import type { ServiceName } from '../service-names.ts';
import type { Service } from './service.ts';

export const absentStates: ServiceStates = {
  clusters: { enabled: false, reason: null, total: 0, connected: 0, pending: 0 },
  object_store: {
    enabled: false,
    reason: null,
    provisioned: false,
    buckets: 0,
    objects: 0,
    bytes: 0,
    s3_endpoint: null,
  },
  sandboxes: {
    enabled: false,
    reason: null,
    running: 0,
    paused: 0,
    total: 0,
    limit: 0,
    driver: null,
    runtime: null,
    isolations: [],
    isolation: null,
    isolation_reason: null,
    shares_kernel: null,
    warm_pool: [],
  },
};

/** A service that is disabled or cannot run here: it has no routes, and its state gives the reason. */
export function absentService<State extends { reason: string | null }>(
  name: ServiceName,
  state: State,
  reason: string,
): Service<State> {
  return {
    name,
    registerRoutes: async () => undefined,
    registerUpgrades: () => undefined,
    start: async () => undefined,
    close: async () => undefined,
    readiness: () => 'ok',
    state: async () => ({ ...state, reason }),
    holdings: async () => [],
    quotaUsage: async () => ({}),
  };
}
