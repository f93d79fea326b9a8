import { BackgroundLoop, type Clock } from '@svc/runtime';
import { timestampAfter } from '../domain/timestamps.ts';
import type { ClusterStore, ConnectionStore } from '../domain/cluster.ts';
import type { CommandDeadlines } from '../domain/command-deadlines.ts';
import type { CommandDispatcher } from '../domain/command-dispatcher.ts';
import type { CommandStore } from '../domain/command.ts';
import type { TelemetryStore } from '../domain/telemetry.ts';
import type { AgentAccess } from './agent-access.ts';
import type { AgentConnections } from '../routes/channel/agent-connections.ts';
import type { AgentTunnels } from '../adapters/tunnel/agent-tunnels.ts';
import type { TunnelStore } from '../domain/tunnel.ts';
import type { ClustersConfig } from '../config.ts';

export interface MaintenanceOptions {
  clusters: ClusterStore;
  store: ConnectionStore;
  commands: CommandStore;
  telemetry: TelemetryStore;
  connections: AgentConnections;
  agentAccess: AgentAccess;
  tunnels: AgentTunnels;
  tunnelStore: TunnelStore;
  dispatcher: CommandDispatcher;
  deadlines: CommandDeadlines;
  clock: Clock;
  replicaId: string;
  leaseMs: number;
  retention: ClustersConfig['retention'];
  onError: (error: unknown, context: Record<string, unknown>) => void;
}

interface Task {
  name: string;
  intervalMs: number;
  run: () => Promise<void>;
}

/** Background tasks: leases, deadlines, token expiry and retention. Each has a loop of its own. */
export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #loops: readonly BackgroundLoop[];

  constructor(options: MaintenanceOptions) {
    this.#options = options;
    const { clock, onError } = options;
    this.#loops = this.#tasks().map(
      ({ name, run, intervalMs }) =>
        new BackgroundLoop({ run, intervalMs, onError: (error) => onError(error, { task: name }), clock }),
    );
  }

  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.close()));
  }

  #tasks(): Task[] {
    const { clusters, agentAccess, dispatcher, deadlines, clock, leaseMs } = this.#options;
    return [
      {
        name: 'leases',
        intervalMs: leaseMs / 3,
        run: () => this.#renewConnections(),
      },
      { name: 'tunnel leases', intervalMs: leaseMs / 3, run: () => this.#renewTunnels() },
      { name: 'deadlines', intervalMs: 5000, run: () => deadlines.sweep() },
      { name: 'queues', intervalMs: 5000, run: () => dispatcher.sendQueued() },
      {
        name: 'tokens',
        intervalMs: 15_000,
        run: async () => {
          const expired = await clusters.expireTokens(clock.now().toISOString());
          agentAccess.closeTokens(new Set(expired));
          await agentAccess.recheckAll(); // tokens that another replica expired, and missed events
        },
      },
      { name: 'retention', intervalMs: 300_000, run: () => this.#prune() },
    ];
  }

  /**
   * Every connection listed before the query is in the database, so one missing from the result has been superseded.
   */
  async #renewConnections(): Promise<void> {
    const { connections, store, clock, replicaId, leaseMs } = this.#options;
    const held = connections.newest();
    if (held.length === 0) return;
    connections.keepOnly(held, await store.renewLeases(replicaId, timestampAfter(clock.now(), leaseMs)));
  }

  /** An agent may have moved to another replica before its old tunnel here is known to be dead. */
  async #renewTunnels(): Promise<void> {
    const { clusters, tunnels, tunnelStore, clock, replicaId, leaseMs } = this.#options;
    await tunnels.keepRenewed(
      () => tunnelStore.renew(replicaId, timestampAfter(clock.now(), leaseMs)),
      async (clusterId) => (await clusters.findById(clusterId)) !== undefined,
    );
  }

  async #prune(): Promise<void> {
    const { commands, telemetry, tunnelStore, clock, retention } = this.#options;
    const ago = (seconds: number): string => timestampAfter(clock.now(), -seconds * 1000);
    await commands.prune(ago(retention.commands_seconds), retention.commands_per_cluster);
    await tunnelStore.pruneLinks(clock.now().toISOString());
    await telemetry.prune({
      heartbeatsBefore: ago(retention.heartbeats_seconds),
      averagesBefore: ago(retention.averages_seconds),
      eventsBefore: ago(retention.events_seconds),
      eventsPerCluster: retention.events_per_cluster,
    });
  }
}
