import { REDACTED, redactConfig } from '@svc/config';
import type { Logger } from '@svc/telemetry';
import type { BuildInfo } from '../build-info.ts';
import type { Clock } from '@svc/runtime';
import type { LiveConfig } from '../config/live-config.ts';
import { agentConfigSchema, type AgentConfig } from '../config/schema.ts';
import type { Health } from '../health/health.ts';
import type { AgentMetrics } from '../metrics.ts';
import { RouteLimits } from './rate-limits.ts';
import { agentRoutes, metricsRoute } from './routes.ts';
import type { Limitations } from '../status/limitations.ts';
import { startAgentServer, type AgentServer } from './server.ts';

export interface AgentHttpOptions {
  config: LiveConfig;
  build: BuildInfo;
  clock: Clock;
  log: Logger;
  health: Health;
  metrics: AgentMetrics;
  /** Assigned by the platform; undefined before that. */
  clusterId: () => string | undefined;
  kubernetesVersion: () => string;
  autoScaling: () => boolean;
  limitations: Limitations;
}

export interface AgentHttp {
  readonly port: number;
  readonly metricsPort: number | null;
  listening(): boolean;
  close(): Promise<void>;
}

/** Both listeners of the agent: everything on one port, and metrics on a second one as well. */
export async function startAgentHttp(options: AgentHttpOptions): Promise<AgentHttp> {
  const { config, clock, log, health, metrics } = options;
  const { http, metrics: metricsConfig } = config.current;
  const limits = new RouteLimits(() => clock.nowMs());
  const metricsEnabled = (): boolean =>
    config.current.monitoring.enabled && config.current.monitoring.prometheus.enabled;
  const find = agentRoutes({
    health,
    metrics,
    metricsEnabled,
    info: () => infoBody(options),
    config: () => configBody(config.current),
  });
  const main = await startAgentServer({
    find,
    limits,
    log,
    host: http.host,
    port: http.port,
    portKey: 'http.port',
  });
  const servers: AgentServer[] = [main];
  try {
    if (metricsConfig.enabled && metricsEnabled()) {
      const route = metricsRoute(metrics);
      const server = await startAgentServer({
        limits,
        log,
        host: http.host,
        port: metricsConfig.port,
        portKey: 'metrics.port',
        find: (path) => (path === metricsConfig.path ? route : null),
        limitedAs: () => '/metrics',
      });
      servers.push(server);
    }
  } catch (error) {
    await main.close();
    throw error;
  }
  return {
    port: main.port,
    metricsPort: servers[1]?.port ?? null,
    listening: () => servers.every((server) => server.listening()),
    close: async () => {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

function infoBody(options: AgentHttpOptions): Record<string, unknown> {
  const { config, build, clusterId, kubernetesVersion, autoScaling, limitations } = options;
  const { agent, svc, monitoring, tunnel } = config.current;
  const limited = limitations.list();
  return {
    version: build.version,
    git_commit: build.gitCommit,
    build_date: build.buildDate,
    go_version: `node ${process.version}`, // the contract's name for the runtime version
    cluster_name: agent.cluster_name,
    cluster_id: clusterId() ?? svc.cluster_id ?? '',
    kubernetes_version: kubernetesVersion(),
    features: { monitoring: monitoring.enabled, tunneling: tunnel.enabled, auto_scaling: autoScaling() },
    ...(limited.length === 0 ? {} : { limitations: limited }), // beyond the contract, so only if there is one
  };
}

/** The whole configuration with secrets redacted; the token is redacted wherever it comes from. */
export function configBody(config: AgentConfig): Record<string, unknown> {
  const redacted = redactConfig(agentConfigSchema, config);
  const svc = redacted['svc'];
  return { ...redacted, svc: { ...(typeof svc === 'object' ? svc : {}), token: REDACTED } };
}
