import type { Metrics } from '@svc/telemetry';
import type { CommandName } from '@svc/protocol';
import type { CommandOutcome } from '../domain/command.ts';

export interface ClusterMetrics {
  received: (type: string) => void;
  finished: (kind: CommandName, outcome: CommandOutcome) => void;
  failed: () => void;
}

/** Labels have a fixed set of values: cluster names would grow without bound. */
export function createClusterMetrics(
  metrics: Metrics,
  counts: { connected: () => number; tunnels: () => number; tunnelStreams: () => number },
): ClusterMetrics {
  const agents = metrics.gauge('svc_clusters_connected', 'Agents connected to this replica');
  const tunnels = metrics.gauge('svc_clusters_tunnels', 'Tunnels of agents to this replica');
  const streams = metrics.gauge('svc_clusters_tunnel_streams', 'Open connections through those tunnels');
  // Read on scrape, so nothing has to track the connections.
  Object.assign(agents, { collect: () => agents.set(counts.connected()) });
  Object.assign(tunnels, { collect: () => tunnels.set(counts.tunnels()) });
  Object.assign(streams, { collect: () => streams.set(counts.tunnelStreams()) });
  const messages = metrics.counter('svc_clusters_messages_received_total', 'Messages of agents', ['type']);
  const commands = metrics.counter('svc_clusters_commands_total', 'Finished commands', ['command', 'status']);
  const failures = metrics.counter('svc_clusters_failures_total', 'Work without a caller that failed');
  return {
    received: (type) => messages.inc({ type }),
    finished: (command, { status }) => commands.inc({ command, status }),
    failed: () => failures.inc(),
  };
}
