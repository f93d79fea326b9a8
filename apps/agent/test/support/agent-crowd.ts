import { randomUUID } from 'node:crypto';
import { createKubeClient, staticToken } from '@svc/kube';
import { PROTOCOL_VERSION, createPlatformMessageDecoder } from '@svc/protocol';
import { systemClock as clock } from '@svc/runtime';
import { createLogger } from '@svc/telemetry';
import { PlatformChannel } from '../../src/channel/channel.ts';
import { createDial } from '../../src/channel/dial.ts';
import { LiveConfig } from '../../src/config/live-config.ts';
import { loadAgentConfig } from '../../src/config/load.ts';
import { createPlatformToken } from '../../src/config/platform-token.ts';
import { createAgentMetrics } from '../../src/metrics.ts';
import { Limitations } from '../../src/status/limitations.ts';
import { StatusReporter } from '../../src/status/reporter.ts';
import { createTunnelDial } from '../../src/tunnel/dial-tunnel.ts';
import { createKubernetesService } from '../../src/tunnel/kubernetes-service.ts';
import { AgentTunnel } from '../../src/tunnel/tunnel.ts';

/** State shared by many agents in one process. */
export interface AgentCrowd {
  /** `onChange` is called when a connection becomes known to the platform and when it ends. */
  start(environment: Record<string, string>, onChange: (connected: boolean) => void): { stop(): Promise<void> };
}

const READING = { status: 'healthy', metrics: { cpu_usage: 0.25, memory_usage: 0.35, active_pods: 12 } };
const STATUS = { nodes: 3, pods: 12, services: 4, health: 'healthy', kubernetes_version: 'v1.34.0' };

/**
 * Thousands of agents in one process, as seen by a platform: each has its own channel with dial, reconnects, heartbeats
 * and status, and a tunnel if configured; but no cluster, endpoints or disk.
 */
export function createAgentCrowd(): AgentCrowd {
  const startedAt = clock.now();
  const metrics = createAgentMetrics(startedAt);
  const log = createLogger({ level: 'silent', name: 'svc-agent', destination: { write: () => undefined } });
  const decoder = createPlatformMessageDecoder();
  const nowhere = { server: new URL('http://127.0.0.1:1'), insecureSkipVerify: false, namespace: 'default' };
  const client = createKubeClient({ ...nowhere, token: staticToken(null) }, { nowMs: () => clock.nowMs() });
  const shared = { clock, random: Math.random, log, metrics };
  return {
    start: (environment, onChange) => {
      const load = () => loadAgentConfig({ file: null, environment });
      const config = new LiveConfig(load().config, load, log);
      const token = createPlatformToken(config);
      const instanceId = randomUUID();
      const channel = new PlatformChannel({
        ...shared,
        config,
        decoder,
        dial: createDial(config, token),
        hello: () => ({
          protocol: PROTOCOL_VERSION,
          agent_version: '0.1.0',
          instance_id: instanceId,
          outbox_id: instanceId,
          started_at: startedAt.toISOString(),
          in_flight: [],
          capabilities: ['deploy', 'exec', 'logs', 'events'],
        }),
        handlers: {
          connected: (session) => {
            onChange(true);
            void session.ended.then(() => onChange(false));
            reporter.connected();
          },
          message: () => undefined,
          welcomed: () => undefined,
          refused: () => undefined,
        },
      });
      const numbers = { heartbeat: () => Promise.resolve(READING), clusterStatus: () => Promise.resolve(STATUS) };
      const limitations = new Limitations();
      const reporter = new StatusReporter({ channel, numbers, clock, log, limitations });
      const kubernetes = createKubernetesService({ client, config, metrics });
      const dial = createTunnelDial(config, token);
      const tunnel = new AgentTunnel({ ...shared, config, kubernetes, dial, limitations });
      const abort = new AbortController();
      const loops = [channel, reporter, tunnel].map((each) => each.run(abort.signal));
      return {
        stop: async () => {
          abort.abort(new Error('the agent stops'));
          await Promise.all(loops);
        },
      };
    },
  };
}
