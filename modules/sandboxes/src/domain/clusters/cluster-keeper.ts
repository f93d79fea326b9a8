import { BackgroundLoop, KeyedQueue } from '@svc/runtime';
import { missingCapabilities } from '../driver.ts';
import type { Boots } from '../boots.ts';
import type { SandboxContext } from '../context.ts';
import { reconcile } from '../reconcile.ts';
import type { Sandbox, SandboxFault, SandboxStatus } from '../sandbox.ts';
import type { SandboxService } from '../sandbox-service.ts';
import type { Supervisor } from '../supervisor.ts';
import type { ClusterRestorer } from './cluster-restorer.ts';
import type { ClusterRights } from './cluster-rights.ts';
import type { ClusterConnector, ClusterRecord, ClusterReports, ConnectedClusters } from './sandbox-cluster.ts';

const CHECK_EVERY_MS = 2_000;
const RESTORE_EVERY_MS = 10_000;
/** A short reconnect of an agent does not show. */
const AWAY_AFTER_MS = 25_000;
/** What an agent or a cluster refuses is asked for again after this time, and what an agent allows too. */
const ASK_AGAIN_AFTER_MS = 30_000;
const CONNECT_LIMIT_MS = 240_000;
const ASK_LIMIT_MS = 15_000;
/** For how long a verified network is not tried again. */
const VERIFIED_FOR_MS = 3_600_000;
const ANY_STATUS: readonly SandboxStatus[] = ['creating', 'running', 'stopped', 'error'];
const ACTIVE: readonly SandboxStatus[] = ['creating', 'running'];

export interface ClusterKeeperDeps {
  readonly context: SandboxContext;
  readonly clusters: ConnectedClusters;
  readonly connector: ClusterConnector;
  readonly reports: ClusterReports;
  readonly service: SandboxService;
  readonly boots: Boots;
  readonly supervisor: Supervisor;
  readonly rights: Pick<ClusterRights, 'follow' | 'close'>;
  readonly restorer: Pick<ClusterRestorer, 'restore' | 'close'>;
}

/** What was last tried with a cluster's tunnel. */
interface Attempt {
  readonly epoch: number;
  readonly triedAtMs: number;
}

/**
 * Follows the tunnels of this node: takes over the sandboxes of a cluster whose tunnel is here, tells of those whose cluster
 * is away or removed, and ends those whose creators have lost the right to the cluster.
 */
export class ClusterKeeper {
  readonly #deps: ClusterKeeperDeps;
  readonly #loop: BackgroundLoop;
  readonly #queue = new KeyedQueue();
  readonly #attempts = new Map<string, Attempt>();
  /** Clusters with sandboxes here and without a driver, and since when. */
  readonly #awaySinceMs = new Map<string, number>();
  readonly #stop = new AbortController();
  #restoresAtMs = 0;
  #unsubscribe = (): void => undefined;

  constructor(deps: ClusterKeeperDeps) {
    const { clock, log } = deps.context;
    this.#deps = deps;
    this.#loop = new BackgroundLoop({
      run: () => this.check(),
      intervalMs: CHECK_EVERY_MS,
      runsAtStart: true,
      onError: (error) => log.error({ err: error }, 'the check of sandboxes in clusters failed'),
      clock,
    });
  }

  start(): void {
    this.#unsubscribe = this.#deps.clusters.subscribe(() => this.#loop.wake());
    this.#loop.start();
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#stop.abort();
    await this.#loop.close();
    await this.#disconnectAll(); // ends what waits for a cluster that does not answer
    await Promise.all([this.#queue.idle(), this.#deps.restorer.close()]);
    await this.#disconnectAll(); // those connected meanwhile
    this.#deps.rights.close();
  }

  async #disconnectAll(): Promise<void> {
    const { drivers } = this.#deps.context;
    for (const id of drivers.clusterIds) await drivers.disconnect(id);
  }

  /** Starts a sandbox that another node has recorded for this one. */
  async startRequested(id: string): Promise<void> {
    const { boots, context } = this.#deps;
    const sandbox = await context.repository.find(id);
    if (sandbox?.status !== 'creating' || sandbox.node !== context.node || boots.has(id)) return;
    boots.begin(sandbox);
  }

  async check(): Promise<void> {
    const { clusters, context, boots } = this.#deps;
    const held = new Set(clusters.held());
    for (const id of context.drivers.clusterIds) if (!held.has(id)) await this.#disconnect(id);
    for (const id of held) this.#follow(id);
    this.#deps.rights.follow([...context.live.ids, ...boots.ids]);
    await this.#markAway();
    if (context.clock.nowMs() < this.#restoresAtMs) return;
    this.#restoresAtMs = context.clock.nowMs() + RESTORE_EVERY_MS;
    await this.#deps.restorer.restore();
  }

  /** Works on one cluster in the background, so that a slow one delays no other. */
  #follow(id: string): void {
    if (this.#queue.has(id)) return;
    const { log } = this.#deps.context;
    this.#queue
      .run(id, () => this.#connect(id))
      .catch((error: unknown) => log.error({ err: error, cluster: id }, 'a cluster could not be connected'));
  }

  async #connect(id: string): Promise<void> {
    const { clusters, context } = this.#deps;
    const { clock } = context;
    const epoch = clusters.epoch(id);
    const last = this.#attempts.get(id);
    const isDue = last?.epoch !== epoch || clock.nowMs() - last.triedAtMs >= ASK_AGAIN_AFTER_MS;
    if (epoch === null || !isDue) return;
    const cluster = await clusters.findById(id);
    if (cluster === null) return;
    this.#attempts.set(id, { epoch, triedAtMs: clock.nowMs() });
    const isNew = last?.epoch !== epoch;
    if (isNew) await this.#deps.reports.takeOver(id, context.node);
    if (!isNew && (await this.#isUnchanged(cluster))) return;
    await this.#disconnect(id);
    await this.#open(cluster, epoch);
  }

  /** A tunnel that drains keeps its streams for a while, although another node may have the sandboxes by then. */
  async #disconnect(clusterId: string): Promise<void> {
    const { drivers, live } = this.#deps.context;
    await drivers.disconnect(clusterId);
    const used = live.ids.filter((id) => drivers.known(id)?.cluster?.id === clusterId);
    await Promise.all(used.map((id) => live.release(id)));
  }

  /** Whether the agent still allows what it allowed when the driver was opened. */
  async #isUnchanged(cluster: ClusterRecord): Promise<boolean> {
    const { connector, context } = this.#deps;
    const connected = context.drivers.connected(cluster.id);
    if (connected === null) return false;
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(ASK_LIMIT_MS)]);
    return connector.fingerprint(cluster, signal).then(
      (now) => now === connected.fingerprint,
      () => true, // a slow answer must not cut its connections
    );
  }

  async #open(cluster: ClusterRecord, epoch: number): Promise<void> {
    const { connector, clusters, context, reports, service, boots, supervisor } = this.#deps;
    const { drivers, clock, log } = context;
    const { id: clusterId, workspaceUuid } = cluster;
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(CONNECT_LIMIT_MS)]);
    const reportedAt = clock.now().toISOString();
    const before = await reports.find(clusterId);
    const isRecent = before !== null && Date.parse(before.reportedAt) > clock.nowMs() - VERIFIED_FOR_MS;
    try {
      const isVerified = isRecent && before.reason === null;
      const opened = await connector.open(cluster, isVerified, signal);
      if (clusters.epoch(clusterId) !== epoch) return await opened.driver.close();
      drivers.connect(clusterId, { ...opened, epoch });
      const isKept = isVerified && before.fingerprint === opened.fingerprint;
      const { fingerprint, hasGvisor } = opened;
      // The time is that of the last test of the network.
      const at = isKept ? before.reportedAt : reportedAt;
      const missing = missingCapabilities(opened.driver);
      const report = { clusterId, workspaceUuid, reason: null, fingerprint, hasGvisor };
      await reports.save({ ...report, missingCapabilities: missing, reportedAt: at });
      this.#awaySinceMs.delete(clusterId);
      const facts = await reconcile(context, service, boots, supervisor, { driver: opened.driver, clusterId });
      log.info({ cluster: clusterId, ...facts }, 'a cluster runs sandboxes');
    } catch (error) {
      if (this.#stop.signal.aborted || clusters.epoch(clusterId) !== epoch) return;
      const reason = error instanceof Error ? error.message : String(error);
      await this.#disconnect(clusterId); // the next attempt opens it again, and takes up what runs there
      drivers.refuse(clusterId, reason);
      const report = { clusterId, workspaceUuid, reason, fingerprint: null, hasGvisor: false };
      await reports.save({ ...report, missingCapabilities: null, reportedAt });
      if (before?.reason !== reason) log.info({ cluster: clusterId, reason }, 'a cluster runs no sandboxes');
    }
  }

  /** Tells the truth about sandboxes of this node whose cluster is away or gone. */
  async #markAway(): Promise<void> {
    const { context, clusters } = this.#deps;
    const { repository, node, drivers, clock } = context;
    const own = await repository.ofOtherClusters(node, ANY_STATUS, drivers.clusterIds);
    const away = new Map<string, Sandbox[]>();
    for (const sandbox of own) {
      const { cluster } = sandbox;
      if (cluster === null || !drivers.isAway(sandbox)) continue;
      away.set(cluster.id, [...(away.get(cluster.id) ?? []), sandbox]);
    }
    for (const id of this.#awaySinceMs.keys()) if (!away.has(id)) this.#awaySinceMs.delete(id);
    for (const [id, sandboxes] of away) {
      if ((await clusters.findById(id)) === null) {
        await this.#deps.reports.remove(id);
        await this.#mark(sandboxes, ANY_STATUS, removedFault);
        continue;
      }
      const sinceMs = this.#awaySinceMs.get(id) ?? clock.nowMs();
      this.#awaySinceMs.set(id, sinceMs);
      if (clock.nowMs() - sinceMs < AWAY_AFTER_MS) continue;
      const reason = drivers.whyAway(id);
      await this.#mark(sandboxes, ACTIVE, (cluster) => offlineFault(cluster, reason));
    }
  }

  async #mark(
    sandboxes: readonly Sandbox[],
    from: readonly SandboxStatus[],
    faultOf: (cluster: string) => SandboxFault,
  ): Promise<void> {
    const { repository, node, watch, live } = this.#deps.context;
    for (const { id, status, cluster, fault: known } of sandboxes) {
      if (cluster === null || !from.includes(status)) continue;
      const fault = faultOf(cluster.name);
      if (status === 'error' && known?.code === fault.code) continue;
      const change = { status: 'error', stateReason: fault.code, fault } as const;
      const marked = await repository.change(id, [status], change, node);
      if (marked === null) continue;
      await live.release(id);
      watch.announce(id, marked);
    }
  }
}

function offlineFault(cluster: string, reason: string): SandboxFault {
  const message = `The cluster ${cluster} cannot be reached: ${reason}. The sandbox continues if it still runs when the cluster returns`;
  return { code: 'CLUSTER_OFFLINE', message, recoverable: true };
}

function removedFault(cluster: string): SandboxFault {
  return {
    code: 'CLUSTER_REMOVED',
    message: `The cluster ${cluster} was removed, and the sandbox with it`,
    recoverable: false,
  };
}
