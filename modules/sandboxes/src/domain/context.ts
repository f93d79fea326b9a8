import type { QuotaLimits } from '@svc/quotas';
import type { Clock, DiskSpace, KeyedQueue, Random } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { SnapshotArchives } from './archives/snapshot-archives.ts';
import type { ClusterChoice } from './clusters/choose-cluster.ts';
import type { ClusterDrivers } from './clusters/cluster-drivers.ts';
import type { SandboxDriver } from './driver.ts';
import type { RuleKeeper } from './egress-rules/rule-keeper.ts';
import type { Holder } from './holder.ts';
import type { LiveSandboxes } from './live-sandboxes.ts';
import type { DrainState } from './nodes/drain-state.ts';
import type { SandboxRepository } from './ports.ts';
import type { Recovery } from './recovery.ts';
import type { SnapshotTakes } from './snapshots/snapshot-takes.ts';
import type { StartPlaces } from './start-places.ts';
import type { StatusWatch } from './status-watch.ts';
import type { UnfinishedStops } from './unfinished-stops.ts';

/** State and services that the domain's parts share. */
export interface SandboxContext {
  readonly repository: SandboxRepository;
  /** The configured driver. */
  readonly driver: SandboxDriver;
  /** The driver of each sandbox. */
  readonly drivers: ClusterDrivers;
  /** The connected clusters that can run sandboxes. */
  readonly clusterChoice: ClusterChoice;
  readonly live: LiveSandboxes;
  readonly watch: StatusWatch;
  /** Serializes changes to a sandbox on the machine, keyed by its id. */
  readonly queue: KeyedQueue;
  /** Snapshots being taken, which hold the place of their sandbox in the queue. */
  readonly takes: SnapshotTakes;
  /** Stops sandboxes, and remembers those whose programs may run on. */
  readonly stops: UnfinishedStops;
  readonly clock: Clock;
  readonly random: Random;
  /** The current limits. */
  readonly quotaLimits: QuotaLimits;
  readonly node: string;
  /** Decides whether this node may act on a sandbox. */
  readonly holder: Holder;
  /** What begins or uses something on this node waits for it. */
  readonly recovery: Recovery;
  /** Whether this node is being drained. */
  readonly drain: DrainState;
  /** Copies of snapshots that all nodes reach; null if there is no storage for them. */
  readonly archives: SnapshotArchives | null;
  /** The same, or storage that only this node reaches if there are no others; null if there is none. */
  readonly storage: SnapshotArchives | null;
  /** Applies the rules for secrets of running sandboxes. */
  readonly rules: RuleKeeper;
  readonly log: Logger;
  /** Free space on the data folder's disk, minus the reserve. */
  readonly disk: DiskSpace;
  /** Slots for starts and removals. */
  readonly places: StartPlaces;
}
