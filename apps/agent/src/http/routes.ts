import type { AgentMetrics } from '../metrics.ts';
import type { Health, Verdict } from '../health/health.ts';

export interface Answer {
  status: number;
  contentType: string;
  body: string;
}

export type Route = () => Answer | Promise<Answer>;

export interface RouteSources {
  health: Health;
  metrics: AgentMetrics;
  info: () => Record<string, unknown>;
  /** Already redacted. */
  config: () => Record<string, unknown>;
  metricsEnabled: () => boolean;
}

const JSON_TYPE = 'application/json; charset=utf-8';
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The six endpoints of the contract. Null = not found. */
export function agentRoutes(sources: RouteSources): (path: string) => Route | null {
  const routes: Readonly<Record<string, Route>> = {
    '/healthz': () => verdict(sources.health.healthz()),
    '/readyz': () => verdict(sources.health.readyz()),
    '/livez': () => verdict(sources.health.livez()),
    '/info': () => json(200, sources.info()),
    '/config': () => json(200, sources.config()),
  };
  const metrics = metricsRoute(sources.metrics);
  return (path) => {
    if (path === '/metrics') return sources.metricsEnabled() ? metrics : null;
    return Object.hasOwn(routes, path) ? (routes[path] ?? null) : null;
  };
}

/** Route of the metrics-only port. */
export function metricsRoute(metrics: AgentMetrics): Route {
  return async () => ({ status: 200, contentType: METRICS_TYPE, body: await metrics.render() });
}

function verdict({ ok, body }: Verdict): Answer {
  return json(ok ? 200 : 503, body);
}

function json(status: number, body: Record<string, unknown>): Answer {
  return { status, contentType: JSON_TYPE, body: JSON.stringify(body) };
}
