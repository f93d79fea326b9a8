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
  metrics.observableGauge('svc_clusters_connected', 'Agents connected to this replica', counts.connected);
  metrics.observableGauge('svc_clusters_tunnels', 'Agent tunnels connected to this replica', counts.tunnels);
  metrics.observableGauge('svc_clusters_tunnel_streams', 'Open streams in these tunnels', counts.tunnelStreams);
  const messages = metrics.counter('svc_clusters_messages_received_total', 'Messages received from agents', ['type']);
  const commands = metrics.counter('svc_clusters_commands_total', 'Finished commands', ['command', 'status']);
  const failures = metrics.counter('svc_clusters_failures_total', 'Failures of background work');
  return {
    received: (type) => messages.inc({ type }),
    finished: (command, { status }) => commands.inc({ command, status }),
    failed: () => failures.inc(),
  };
}
