import {
  CLOSE_CODES,
  PROTOCOL_LIMITS,
  PROTOCOL_TIMES,
  PROTOCOL_VERSION,
  type AgentMessage,
  type EventReport,
  type Hello,
} from '@svc/protocol';
import { boundedDetails, parseTime } from '../../domain/bounded-report.ts';
import { parseClockSkew } from '../../domain/cluster-warnings.ts';
import type { Clock } from '@svc/runtime';
import type { ConnectionStore } from '../../domain/cluster.ts';
import type { CommandDispatcher } from '../../domain/command-dispatcher.ts';
import type { CommandReplies } from '../../domain/command-replies.ts';
import type { ReportQueue } from '../../domain/report-queue.ts';
import type { AgentConnections } from './agent-connections.ts';
import { introductionOf, type AgentSession, type SessionHandlers } from './agent-session.ts';

export interface AgentMessagesOptions {
  connections: AgentConnections;
  store: ConnectionStore;
  reports: ReportQueue;
  replies: CommandReplies;
  dispatcher: CommandDispatcher;
  clock: Clock;
  version: string;
  newSessionId: () => string;
  onMessage: (type: AgentMessage['type']) => void;
  onError: (error: unknown, context: Record<string, unknown>) => void;
  onPeerError: (clusterId: string, code: string, message: string) => void;
}

/** Maps messages to the domain; each message type of the protocol is handled here. */
export class AgentMessages implements SessionHandlers {
  readonly #options: AgentMessagesOptions;

  constructor(options: AgentMessagesOptions) {
    this.#options = options;
  }

  async introduce({ connection }: AgentSession, hello: Hello | null): Promise<void> {
    const { store, dispatcher, clock, version, newSessionId } = this.#options;
    const { clusterId, epoch } = connection;
    const { resumed, lastReceivedSequence } = await store.introduce(clusterId, epoch, introductionOf(hello));
    if (hello !== null) {
      await connection.send('welcome', {
        protocol: PROTOCOL_VERSION,
        session_id: newSessionId(),
        cluster_id: clusterId,
        resumed,
        last_received_seq: lastReceivedSequence,
        server_time: clock.now().toISOString(),
        platform_version: version,
        acknowledges_output: true,
        heartbeat_interval_seconds: PROTOCOL_TIMES.heartbeatIntervalMs / 1000,
        limits: {
          messages_per_minute: PROTOCOL_LIMITS.messagesPerMinute,
          messages_burst: PROTOCOL_LIMITS.messagesBurst,
          frame_size_bytes: PROTOCOL_LIMITS.frameSizeBytes,
        },
      });
    }
    // Not awaited: sending open commands may wait for the rate limit, and the agent's replies must be read meanwhile.
    dispatcher.attach(connection, new Set(hello?.in_flight)).catch((error: unknown) => {
      if (connection.closed) return;
      this.#options.onError(error, { cluster: clusterId });
      void connection.close(CLOSE_CODES.tryAgainLater, 'the open commands could not be read');
    });
  }

  async message(session: AgentSession, message: AgentMessage): Promise<void> {
    const { replies, clock, reports, onMessage, onPeerError } = this.#options;
    const { connection } = session;
    const { clusterId } = connection;
    onMessage(message.type);
    const at = clock.now().toISOString();
    switch (message.type) {
      case 'heartbeat': {
        const { status, metrics } = message.payload;
        const { cpu_usage: cpuUsage, memory_usage: memoryUsage, active_pods: activePods } = metrics;
        return reports.write({
          kind: 'heartbeat',
          clusterId,
          at,
          reading: { status, cpuUsage, memoryUsage, activePods },
          clockSkewSeconds: parseClockSkew(message.timestamp, clock.nowMs()),
        });
      }
      case 'cluster_status': {
        const { kubernetes_version: kubernetesVersion = null, limitations = [], ...counts } = message.payload;
        const reportedStatus = { ...counts, limitations, at };
        return reports.write({ kind: 'status', clusterId, reportedStatus, kubernetesVersion });
      }
      case 'event':
        return this.#event(session, message.id, message.timestamp, message.payload);
      case 'command_ack':
        return replies.acknowledge(connection, message.payload);
      case 'command_progress':
        return replies.progress(connection, message.payload);
      case 'command_output':
        await replies.output(connection, message.payload);
        session.outputArrived(message.payload.command_id, message.payload.seq);
        return;
      case 'command_result':
        return replies.result(connection, message.payload);
      case 'error':
        onPeerError(clusterId, message.payload.code, message.payload.message);
        return;
      case 'ping':
        return connection.send('pong', {});
      case 'pong':
        return; // needs no action
      case 'hello':
        return; // handled by the session
    }
  }

  failed({ connection }: AgentSession, error: unknown): void {
    this.#options.onError(error, { cluster: connection.clusterId });
  }

  closed(session: AgentSession): void {
    const { connections, dispatcher, store, clock, onError } = this.#options;
    const { connection } = session;
    connections.remove(session);
    dispatcher.detach(connection);
    connections.track(
      session
        .settled()
        .then(() => store.close(connection.clusterId, connection.epoch, clock.now().toISOString()))
        .catch((error: unknown) => onError(error, { cluster: connection.clusterId })),
    );
  }

  async #event({ connection }: AgentSession, messageId: string, timestamp: string, report: EventReport): Promise<void> {
    const { reports, clock } = this.#options;
    const { clusterId, instanceId, outboxId } = connection;
    const { seq: sequence, occurred_at: occurredAt } = report;
    const numbered = instanceId !== null && outboxId !== null && sequence !== undefined;
    await reports.write({
      kind: 'event',
      clusterId,
      messageId,
      outbox: numbered ? { id: outboxId, sequence } : null,
      event: {
        eventType: report.event_type,
        namespace: report.namespace,
        resource: report.resource,
        details: boundedDetails(report.details),
        occurredAt: parseTime(occurredAt ?? timestamp, clock.now()),
        receivedAt: clock.now().toISOString(),
      },
    });
    if (numbered) await connection.send('event_ack', { instance_id: instanceId, seq: sequence });
  }
}
