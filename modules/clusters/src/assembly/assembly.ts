import type { Access, AuditLog, HeldRights } from '@svc/access';
import { PROTOCOL_LIMITS, PROTOCOL_TIMES, type CommandName } from '@svc/protocol';
import type { QuotaLimits } from '@svc/quotas';
import type { DatabaseEvents } from '@svc/sql';
import type { Logger, Metrics } from '@svc/telemetry';
import type { ClientOfRequest, Forwarding } from '@svc/http';
import type { Kysely } from 'kysely';
import { AgentConnections } from '../routes/channel/agent-connections.ts';
import { AgentMessages } from '../routes/channel/agent-messages.ts';
import type { ClustersConfig } from '../config.ts';
import { Changes } from '../domain/changes.ts';
import type { Clock } from '@svc/runtime';
import { ClusterRegistry } from '../domain/cluster-registry.ts';
import { isConnectedAt } from '../domain/cluster.ts';
import { CommandDeadlines } from '../domain/command-deadlines.ts';
import { CommandDispatcher } from '../domain/command-dispatcher.ts';
import { CommandReplies } from '../domain/command-replies.ts';
import { CommandRequests } from '../domain/command-requests.ts';
import { newId, type RandomBytes } from '../domain/identifiers.ts';
import { KubernetesApi } from '../adapters/kubernetes/kubernetes-api.ts';
import { OutputRelays } from '../domain/output-relays.ts';
import type { AgentDelivery } from '../adapters/delivery/agent-delivery.ts';
import type { ReportQueue } from '../domain/report-queue.ts';
import type { RouteContext } from '../routes/context.ts';
import { AgentAccess } from './agent-access.ts';
import { Maintenance } from './maintenance.ts';
import { createManifestInspector } from '../domain/manifest/inspector.ts';
import { createStores, type Stores } from '../store/stores.ts';
import type { ClusterTables } from '../store/tables.ts';
import { AgentTunnels } from '../adapters/tunnel/agent-tunnels.ts';
import type { TunnelEndpoints } from '../routes/tunnel/link-routes.ts';
import type { CommandOutcome } from '../domain/command.ts';

interface ClusterMetrics {
  received: (type: string) => void;
  finished: (kind: CommandName, outcome: CommandOutcome) => void;
  failed: () => void;
}

export interface ClustersModuleDependencies {
  /** Migrated to at least 0032; other tables of the database do not matter. */
  kysely: Kysely<ClusterTables>;
  /** Of the same database. */
  events: DatabaseEvents;
  config: ClustersConfig;
  log: Logger;
  metrics: Metrics;
  clock: Clock;
  randomBytes: RandomBytes;
  /** Unique and stable across restarts: a replica clears the state of its previous run by this id. */
  replicaId: string;
  version: string;
  /** The project's `deploy` folder, with the agent's chart and manifest. */
  deployFolder: string;
  /** Folder for the agent images that an operator provides (`svc agent image --data`); need not exist. */
  agentImagesFolder: string;
  /** For tunnel traffic, which no route guard covers. */
  access: Access;
  audit: AuditLog;
  /** Closes open tunnel connections when the right to them is revoked. */
  rights: HeldRights;
  /** Passes requests to the replica with the agent's tunnel. Defaults to none. */
  forwarding?: Forwarding;
  /** Resolves the client behind a tunnel request. */
  clientOf: ClientOfRequest;
  /** Limits of each workspace and its owner. */
  quotaLimits: QuotaLimits;
  /** URLs at which agents and users reach the platform. */
  endpoints: TunnelEndpoints;
}

export const LEASE_MS = 30_000;
const CHANGES_POLL_MS = 2000;
const INSPECTOR = {
  inlineSizeBytes: 16 * 1024,
  timeoutMs: 5000,
  maxWaiting: 16,
  maxWaitingOfWorkspace: 4,
  maxWaitingOfOwner: 8,
} as const;
const NOTE_LIMITS = { notes: 5000, outputBytes: 1024 * 1024 } as const;

/** Dependencies shared by the parts below. */
export interface Foundation {
  dependencies: ClustersModuleDependencies;
  stores: Stores;
  metrics: ClusterMetrics;
  changes: Changes;
  relays: OutputRelays;
  connections: AgentConnections;
  tunnels: AgentTunnels;
  agentAccess: AgentAccess;
  onError: (error: unknown, context: Record<string, unknown>) => void;
}

export function createFoundation(dependencies: ClustersModuleDependencies): Foundation {
  const { clock, log } = dependencies;
  const connections = new AgentConnections(clock);
  const tunnels = new AgentTunnels();
  const metrics = createClusterMetrics(dependencies.metrics, {
    connected: () => connections.count,
    tunnels: () => tunnels.count,
    tunnelStreams: () => tunnels.streamCount,
  });
  const stores = createStores(dependencies.kysely);
  return {
    dependencies,
    stores,
    metrics,
    changes: new Changes(clock, CHANGES_POLL_MS),
    relays: new OutputRelays(),
    connections,
    tunnels,
    agentAccess: new AgentAccess({ clusters: stores.clusters, connections, tunnels, clock }),
    onError: (error, context) => {
      metrics.failed();
      log.error({ err: error, ...context }, 'clusters: work failed');
    },
  };
}

/** Client for the API servers behind the tunnels. */
export function createKubernetesApi({ dependencies, stores, tunnels }: Foundation): KubernetesApi {
  const { clock, config } = dependencies;
  const answerTimeoutMs = config.tunnel.answer_timeout_seconds * 1000;
  return new KubernetesApi({ tunnels, store: stores.tunnelStore, clock, answerTimeoutMs });
}

export type CommandServices = ReturnType<typeof createCommandServices>;

export function createCommandServices(foundation: Foundation) {
  const { dependencies, stores, changes, relays, connections, metrics, onError } = foundation;
  const { clock, config, randomBytes, quotaLimits } = dependencies;
  const { shareOf } = quotaLimits;
  const { commands } = stores;
  const shared = { commands, changes, relays, clock, maxOpenCommands: config.max_open_commands };
  const dispatcher = new CommandDispatcher({ ...shared, onError, onFinished: metrics.finished });
  const inspector = createManifestInspector({
    clock,
    maxSizeBytes: PROTOCOL_LIMITS.manifestSizeBytes,
    shareOf,
    ...INSPECTOR,
  });
  return {
    dispatcher,
    inspector,
    replies: new CommandReplies({ ...shared, dispatcher, noteLimits: NOTE_LIMITS }),
    deadlines: new CommandDeadlines({ commands, dispatcher, clock, lostAfterMs: config.lost_after_seconds * 1000 }),
    requests: new CommandRequests({
      ...shared,
      dispatcher,
      inspector,
      randomBytes,
      quotaLimits,
      isConnected: (cluster) => connections.isConnected(cluster.id) || isConnectedAt(cluster, clock.now()),
      queueMs: config.queue_seconds * 1000,
      resultGraceMs: config.result_grace_seconds * 1000,
    }),
  };
}

export function createMessageHandlers(
  { dependencies, stores, connections, metrics, onError }: Foundation,
  { dispatcher, replies }: CommandServices,
  reports: ReportQueue,
): AgentMessages {
  const { clock, log, randomBytes, version } = dependencies;
  return new AgentMessages({
    connections,
    store: stores.connectionStore,
    reports,
    replies,
    dispatcher,
    clock,
    version,
    newSessionId: () => newId('ses', randomBytes),
    onMessage: metrics.received,
    onError,
    onPeerError: (cluster, code, message) => {
      log.warn({ cluster, code, message }, 'clusters: the agent reports an error');
    },
  });
}

export function createMaintenance(
  { dependencies, stores, connections, tunnels, agentAccess, onError }: Foundation,
  { dispatcher, deadlines }: CommandServices,
): Maintenance {
  const { clock, replicaId, config } = dependencies;
  const { clusters, connectionStore: store, commands, telemetry, tunnelStore } = stores;
  const { retention } = config;
  return new Maintenance({
    clusters,
    store,
    commands,
    telemetry,
    connections,
    agentAccess,
    tunnels,
    tunnelStore,
    dispatcher,
    deadlines,
    clock,
    replicaId,
    leaseMs: LEASE_MS,
    retention,
    onError,
  });
}

export function createRegistry({
  dependencies,
  stores,
  connections,
  tunnels,
  agentAccess,
}: Foundation): ClusterRegistry {
  const { clock, randomBytes, config } = dependencies;
  return new ClusterRegistry({
    clusters: stores.clusters,
    clock,
    randomBytes,
    quotaLimits: dependencies.quotaLimits,
    maxClustersPerWorkspace: config.max_clusters_per_workspace,
    disconnect: (clusterId, keptTokenHash) => {
      if (keptTokenHash !== null) {
        connections.closeOtherTokens(clusterId, keptTokenHash);
        tunnels.closeOtherTokens(clusterId, keptTokenHash);
        return;
      }
      agentAccess.closeCluster(clusterId);
    },
  });
}

export function createRouteContext(
  { dependencies, stores, changes, relays }: Foundation,
  { requests, dispatcher }: CommandServices,
  registry: ClusterRegistry,
  delivery: AgentDelivery,
  stopping: AbortSignal,
): RouteContext {
  const { clock, config } = dependencies;
  return {
    registry,
    requests,
    dispatcher,
    relays,
    changes,
    clock,
    ...stores,
    offlineAfterMs: PROTOCOL_TIMES.heartbeatIntervalMs * PROTOCOL_TIMES.missedHeartbeats,
    maxStreams: config.max_streams,
    stopping,
    install: (cluster, token) => delivery.commandsFor(cluster, token),
  };
}

/** Labels have a fixed set of values: cluster names would grow without bound. */
function createClusterMetrics(
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
