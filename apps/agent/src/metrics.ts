import { createMetrics } from '@svc/telemetry';

/** The agent's Prometheus metrics: the contract's thirteen and further ones for operators. */
export interface AgentMetrics {
  setConnected(connected: boolean): void;
  /** One request to the platform's API; `endpoint` is a route, never a path with ids. */
  platformRequest(method: string, endpoint: string, status: string, durationSeconds: number): void;
  platformError(type: string): void;
  kubernetesRequest(): void;
  reconnect(reason: string): void;
  commandFinished(command: string, status: string, durationSeconds: number): void;
  messageSent(type: string): void;
  messageReceived(type: string): void;
  setOutbox(messages: number, sizeBytes: number): void;
  /** Positive: the platform's clock is ahead. */
  setClockSkew(seconds: number): void;
  setTunnels(active: number): void;
  tunnelBytes(sent: number, received: number): void;
  setEventLoopLag(seconds: number): void;
  setDown(): void;
  render(): Promise<string>;
}

/** Causes that are always present, so that an alert on their rate works from the start. */
const ERROR_TYPES: readonly string[] = [
  'unauthorized',
  'forbidden',
  'rate_limited',
  'server',
  'connection',
  'timeout',
  'tls',
  'token',
];

export function createAgentMetrics(startedAt: Date): AgentMetrics {
  const metrics = createMetrics();
  const up = metrics.gauge('svc_agent_up', 'Whether the agent is running (1) or shutting down (0)');
  const connected = metrics.gauge('svc_agent_connected', 'Whether the agent is connected to the platform');
  metrics.gauge('svc_agent_start_time_seconds', 'Unix time of the start').set(startedAt.getTime() / 1000);
  const requests = metrics.counter('svc_api_requests_total', 'Requests to the platform', [
    'method',
    'endpoint',
    'status',
  ]);
  const latency = metrics.histogram('svc_api_request_duration_seconds', 'Latency of requests to the platform');
  const errors = metrics.counter('svc_api_errors_total', 'Failed requests to the platform by type', ['type']);
  const tunnels = metrics.gauge('svc_tunnel_active', 'Active tunnels');
  const sent = metrics.counter('svc_tunnel_bytes_sent', 'Bytes sent through tunnels');
  const received = metrics.counter('svc_tunnel_bytes_received', 'Bytes received through tunnels');
  const kubernetes = metrics.counter('svc_kubernetes_api_requests_total', 'Requests to the Kubernetes API');
  const memory = metrics.gauge('svc_agent_memory_bytes', 'Resident memory of the process');
  const cpu = metrics.counter('svc_agent_cpu_seconds_total', 'Processor time of the process');
  const routines = metrics.gauge(
    'svc_agent_goroutines',
    'Concurrent activities: open handles and requests of the event loop',
  );
  const reconnects = metrics.counter('svc_agent_reconnects_total', 'Ended platform connections by reason', ['reason']);
  const commands = metrics.counter('svc_agent_commands_total', 'Finished commands', ['command', 'status']);
  const commandLatency = metrics.histogram('svc_agent_command_duration_seconds', 'Duration of commands', ['command']);
  const messages = metrics.counter('svc_agent_messages_total', 'Messages of the channel', ['direction', 'type']);
  const outbox = metrics.gauge('svc_agent_outbox_messages', 'Messages queued for the platform');
  const outboxBytes = metrics.gauge('svc_agent_outbox_bytes', 'Bytes queued for the platform');
  const lag = metrics.gauge('svc_agent_event_loop_lag_seconds', 'Longest delay of the event loop in the last interval');
  const skew = metrics.gauge('svc_agent_clock_skew_seconds', 'Seconds by which the clock of the platform is ahead');
  let cpuSeconds = 0;
  up.set(1);
  for (const type of ERROR_TYPES) errors.inc({ type }, 0);

  const refresh = (): void => {
    memory.set(process.memoryUsage.rss());
    routines.set(process.getActiveResourcesInfo().length);
    const { user, system } = process.cpuUsage();
    const total = (user + system) / 1_000_000;
    cpu.inc(Math.max(0, total - cpuSeconds));
    cpuSeconds = total;
  };

  return {
    setConnected: (is) => connected.set(is ? 1 : 0),
    platformRequest: (method, endpoint, status, durationSeconds) => {
      requests.inc({ method, endpoint, status });
      latency.observe(durationSeconds);
    },
    platformError: (type) => errors.inc({ type }),
    kubernetesRequest: () => kubernetes.inc(),
    reconnect: (reason) => reconnects.inc({ reason }),
    commandFinished: (command, status, durationSeconds) => {
      commands.inc({ command, status });
      commandLatency.observe({ command }, durationSeconds);
    },
    messageSent: (type) => messages.inc({ direction: 'sent', type }),
    messageReceived: (type) => messages.inc({ direction: 'received', type }),
    setOutbox: (count, sizeBytes) => {
      outbox.set(count);
      outboxBytes.set(sizeBytes);
    },
    setClockSkew: (seconds) => skew.set(seconds),
    setTunnels: (active) => tunnels.set(active),
    tunnelBytes: (sentBytes, receivedBytes) => {
      sent.inc(sentBytes);
      received.inc(receivedBytes);
    },
    setEventLoopLag: (seconds) => lag.set(seconds),
    setDown: () => up.set(0),
    render: () => {
      refresh();
      return metrics.render();
    },
  };
}
