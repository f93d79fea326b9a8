import type { LiveEgressRules } from './egress-rules/egress-rule.ts';
import type { ImageSettings } from './images/image-settings.ts';
import type { SandboxTemplate } from './templates/sandbox-template.ts';
import type { HelperConnection } from './helper/helper-connection.ts';
import { sandboxErrors } from '../errors.ts';

export type NetworkMode = 'none' | 'egress';
/** `namespaces`: isolated by the host kernel. `gvisor`: runs on a kernel of its own, on top of the host kernel. */
export type Isolation = 'namespaces' | 'gvisor';

export interface SandboxResources {
  /** Thousandths of a CPU. */
  readonly cpuMillis: number;
  readonly memoryMb: number;
  readonly diskMb: number;
  readonly pids: number;
  /** Absent: none. */
  readonly gpus?: number;
}

/** Everything a driver needs to create a sandbox. The driver keeps what it needs to restart it. */
export interface SandboxSpec {
  readonly id: string;
  readonly hostname: string;
  /** Image name in the catalog. */
  readonly image: string;
  /** Snapshot that provides the initial files. It has the same image. */
  readonly snapshotId?: string | null;
  /** Built image that provides the files, instead of the one in the catalog. Refused without `builds` and `usesTemplates`. */
  readonly template?: SandboxTemplate | null;
  readonly resources: SandboxResources;
  readonly network: NetworkMode;
  /** Entries as returned by `egressTarget`. Absent or null: all public hosts. */
  readonly egressAllow?: readonly string[] | null;
  readonly isolation: Isolation;
  /** Volumes that it mounts. Absent: none. */
  readonly volumes?: readonly MountedVolume[];
  /** Buckets that it mounts. Absent: none. */
  readonly mounts?: readonly MountedBucket[];
}

/** A volume in a sandbox. */
export interface MountedVolume {
  readonly volumeId: string;
  /** Folder inside; created if it is missing. */
  readonly path: string;
  readonly readOnly: boolean;
}

/** A bucket in a sandbox. The driver passes requests for it to the platform, by its index. */
export interface MountedBucket {
  /** Folder inside; created if it is missing. */
  readonly path: string;
  readonly readOnly: boolean;
}

/** A sandbox that the driver found, whether or not the platform has a record of it. */
export interface FoundSandbox {
  readonly id: string;
  /** Also true while paused. */
  readonly running: boolean;
  readonly paused: boolean;
  /** It carries the mark of an older version, which another platform may share: only a record tells whose it is. */
  readonly mayBeForeign?: boolean;
}

export interface SandboxCondition {
  readonly running: boolean;
  /** The kernel killed processes because of the memory limit. */
  readonly outOfMemory: boolean;
}

/** A value that the driver cannot measure is null. */
export interface SandboxStats {
  /** Total CPU time since the start. */
  readonly cpuMicroseconds: number | null;
  readonly memoryBytes: number | null;
  readonly pids: number | null;
  readonly diskBytes: number | null;
  /** Space that the volumes it writes to take on this machine. Absent: not measured. */
  readonly volumeBytes?: number | null;
  /** Processes killed by the kernel because of the memory limit, since the start. */
  readonly oomKills: number | null;
}

export type DriverStatus =
  | { readonly available: true; readonly details: Readonly<Record<string, unknown>> }
  | {
      readonly available: false;
      /** One line for people. */
      readonly reason: string;
      /** Command that installs what is missing, if there is one. */
      readonly install: string | null;
    };

/** Copies of sandbox files. A sandbox created from a snapshot no longer needs it. */
export interface SnapshotDriver {
  /**
   * Copies the files of a created sandbox, running or not. The copy is consistent: a running sandbox is frozen while it
   * is taken and resumes unless it was paused. When this resolves, the copy is complete and on disk; on failure, no
   * copy is left. Where a copy may take long, the signal ends it; with SNAPSHOT_ENDED, the sandbox stays frozen.
   */
  take(id: string, snapshotId: string, signal?: AbortSignal): Promise<{ readonly sizeBytes: number }>;
  /**
   * The most disk space a copy can take on this machine; 0 if the driver stores files elsewhere or the copy does not
   * exist.
   */
  sizeBytes(of: { readonly sandbox: string } | { readonly snapshot: string }, signal?: AbortSignal): Promise<number>;
  /** Does nothing if the snapshot does not exist. */
  remove(snapshotId: string): Promise<void>;
  /** Includes incomplete copies left by an interruption. */
  list(): Promise<readonly string[]>;
  /** Absent: sandboxes are created from a snapshot only where it was taken. */
  readonly archives?: ArchiveDriver;
}

/** The content of an archive. Chunks belong to the reader. */
export interface ArchiveSource {
  /** Names what it is based on. */
  readonly base: string | null;
  open(): AsyncIterable<Uint8Array>;
  /** The content of the base; null if it is gone. */
  openBase(): Promise<AsyncIterable<Uint8Array> | null>;
}

/** The slot of a start, which it shares with the starts of others. */
export interface StartPlace {
  /** Waits without the slot for what may take long and needs nothing here, such as a node of a cluster, then takes one again. */
  leaveFor<Awaited>(wait: () => Promise<Awaited>): Promise<Awaited>;
}

/**
 * Turns snapshots into streams and streams into sandboxes, on any node with the same format. Chunks belong to the
 * reader.
 */
export interface ArchiveDriver {
  /** Names what can read its archives, such as `local/x64`. */
  readonly format: string;
  /** Names what the snapshot is based on and several snapshots share, such as an image; null if it is complete. */
  base(snapshotId: string): Promise<string | null>;
  /** `isBuilt`: it belongs to a workspace, unlike an image of the catalog. `sizeBytes`: the most that `readBase` passes on. */
  describeBase(base: string): Promise<{ readonly isBuilt: boolean; readonly sizeBytes: number }>;
  readBase(base: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Adds a base of another node from its archive. It stays on this machine while something holds it. Throws IMAGE_PULL_FAILED. */
  addBase(base: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>;
  /** The content of a snapshot on this node. */
  read(snapshotId: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Whether a sandbox of another node may continue here. False while its processes still run on this machine, so that
   * only the platform of that node has ended.
   */
  mayContinue(id: string): Promise<boolean>;
  /** Like `SandboxDriver.create`, with the files of the archive. */
  create(spec: SandboxSpec, archive: ArchiveSource, signal: AbortSignal, place?: StartPlace): Promise<void>;
}

/** Streams files out of sandboxes whose driver keeps no copies of its own, and into new ones. */
export interface SaveDriver extends Pick<ArchiveDriver, 'format' | 'create'> {
  /** About how much `save` passes on. The signal ends it at once. */
  sizeBytes(id: string, signal: AbortSignal): Promise<number>;
  /**
   * Passes the files of a created sandbox, running or not, to `keep`. A running sandbox is frozen meanwhile and resumes unless
   * it was paused. The content fails once it exceeds `maxBytes`, or arrives too slowly. Chunks belong to the reader. The signal
   * ends it at once, without waiting for `keep`; with SNAPSHOT_ENDED, the sandbox stays frozen.
   */
  save<Kept>(
    id: string,
    maxBytes: number,
    signal: AbortSignal,
    keep: (content: AsyncIterable<Uint8Array>) => Promise<Kept>,
  ): Promise<Kept>;
}

/**
 * File systems that outlive sandboxes. `start` mounts those of its spec: read-write in one sandbox or read-only in several.
 * A full volume fails the write. Snapshots of volumes are volumes that no sandbox mounts.
 */
export interface VolumeDriver {
  /** Creates an empty volume. Complete and on disk when it resolves; on failure, nothing is left. */
  create(id: string, sizeMb: number): Promise<void>;
  /**
   * Copies a volume, mounted or not, to a new one of the same size. The copy is consistent: a running sandbox that mounts it
   * read-write is frozen while it is taken and resumes unless it was paused. Complete or absent, as with `create`.
   */
  copy(id: string, targetId: string): Promise<{ readonly sizeBytes: number }>;
  /**
   * Makes a volume larger. Completes what an interruption left undone; does nothing to a larger one. Throws VOLUME_MOUNTED where
   * this is not possible while sandboxes use it.
   */
  resize(id: string, sizeMb: number): Promise<void>;
  /**
   * Connects to a helper that has the files of a volume, and nothing else, as its root, whether or not sandboxes mount it: all of
   * them see one file system. Successful changes are on disk. Starts the helper unless it runs.
   */
  serve(id: string, signal: AbortSignal): Promise<HelperConnection>;
  /** Ends that helper. Does nothing if there is none. */
  endServing(id: string): Promise<void>;
  /** The space that a volume takes on this machine; 0 if it does not exist. */
  sizeBytes(id: string): Promise<number>;
  /** Does nothing if the volume does not exist. */
  remove(id: string): Promise<void>;
  /** Includes incomplete volumes left by an interruption. */
  list(): Promise<readonly string[]>;
}

export interface BuiltImage {
  /** Identifies the image on this machine. */
  readonly digest: string;
  readonly settings: ImageSettings;
}

/** Makes images from sandboxes. An image stays as long as a layer, a sandbox or a snapshot needs it. */
export interface BuildDriver {
  /** Prepares an image of the catalog and returns it. Throws UNKNOWN_IMAGE and IMAGE_PULL_FAILED. */
  base(image: string, signal: AbortSignal): Promise<BuiltImage>;
  /** Returns an image that was built earlier, here or on another node; null if it is not on this machine. */
  find(digest: string): Promise<BuiltImage | null>;
  /** Makes the layer hold an image, which may come later. */
  hold(digest: string, layerId: string): Promise<void>;
  /**
   * Makes an image of a stopped sandbox whose template is `building`, held by the layer, and continues the sandbox from it
   * with an empty disk. `sizeBytes` is what the changes since the previous image take.
   */
  commit(
    id: string,
    layerId: string,
    signal: AbortSignal,
  ): Promise<{ readonly digest: string; readonly sizeBytes: number }>;
  /**
   * Makes an image with the same files and other settings, held by the layer. Equal images of different scopes have
   * different digests.
   */
  configure(digest: string, layerId: string, settings: ImageSettings, scope: string): Promise<string>;
  /** Does nothing if the layer does not exist. Its image is removed once nothing needs it. */
  remove(layerId: string): Promise<void>;
  /** Ids of all layers on this machine, also of those whose record was not finished. */
  list(): Promise<readonly string[]>;
}

export interface PreparedFigures {
  readonly ready: number;
  readonly target: number;
  /** Takes that found a matching prepared start, and those that did not. */
  readonly hits: number;
  readonly misses: number;
}

/** Starts prepared ahead of requests. They contain nothing specific to an image or a tenant. */
export interface PreparedStarts {
  /**
   * Returns the id of a prepared start that fits the spec, or null. The caller owns it from then on and either creates
   * a sandbox with that id or gives it back unused.
   */
  take(wish: Omit<SandboxSpec, 'id' | 'hostname'>): string | null;
  release(id: string): void;
  figures(): PreparedFigures;
}

/**
 * A part of the driver contract that a driver may lack.
 *
 * - `pause`: freezes a sandbox and continues it.
 * - `snapshots`: copies the files of a sandbox (`snapshots` or `saves`).
 * - `volumes`: mounts file systems that outlive a sandbox (`volumes`).
 * - `mounts`: mounts buckets as folders (`whyNoMounts`).
 * - `templates`: makes images from sandboxes (`builds`).
 * - `egress_allow`: limits egress to named hosts (`limitsEgress`).
 * - `egress_rules`: adds secrets to requests outside of the sandbox (`applyRules`).
 * - `disk_limit`: a full disk fails the write. Without it, the disk is not limited, or a sandbox that exceeds it ends.
 * - `process_limit`: a sandbox has at most `pids` processes.
 * - `oom_survival`: a sandbox whose processes are killed for their memory runs on. Without it, it may end.
 * - `gpus`: gives sandboxes GPUs (`hasGpus`).
 * - `usage`: measures processor time, memory and processes of a sandbox. Without it, `stats` has nulls.
 * - `disk_usage`: measures the disk of a sandbox. Without it, `stats` has a null. A disk on storage that it shares with others
 *   may have a null, too.
 */
export type Capability =
  | 'pause'
  | 'snapshots'
  | 'volumes'
  | 'mounts'
  | 'templates'
  | 'egress_allow'
  | 'egress_rules'
  | 'disk_limit'
  | 'process_limit'
  | 'oom_survival'
  | 'gpus'
  | 'usage'
  | 'disk_usage';

/** A capability whose absence does not follow from the absence of a method. */
export type DeclaredCapability = Exclude<
  Capability,
  'snapshots' | 'templates' | 'volumes' | 'mounts' | 'egress_allow' | 'egress_rules' | 'gpus'
>;

/** The names of what the driver lacks, in alphabetical order. */
export function missingCapabilities(driver: SandboxDriver): Capability[] {
  const missing: Capability[] = [...(driver.lacks ?? [])];
  if (driver.snapshots === undefined && driver.saves === undefined) missing.push('snapshots');
  if (driver.volumes === undefined) missing.push('volumes');
  if (driver.whyNoMounts === undefined) missing.push('mounts');
  if (driver.builds === undefined) missing.push('templates');
  if (driver.limitsEgress !== true) missing.push('egress_allow');
  if (driver.applyRules === undefined) missing.push('egress_rules');
  if (driver.hasGpus !== true) missing.push('gpus');
  return missing.toSorted();
}

/**
 * Where sandboxes run. One contract suite (`driver-contract.ts`) covers every implementation and the fake. All methods
 * throw an `AppError` of the module's catalogue; its code becomes the cause code of the sandbox.
 */
export interface SandboxDriver {
  readonly name: string;
  /** Checks whether this machine can run sandboxes. Never throws; `stop` ends a check that takes long. */
  open(stop?: AbortSignal): Promise<DriverStatus>;
  status(): DriverStatus;
  /** Why this isolation is not available, in a few words for people; null if it is. */
  whyUnsupported(isolation: Isolation): string | null;
  /** Absent: it lacks nothing of this. */
  readonly lacks?: ReadonlySet<DeclaredCapability>;
  /** Whether the nodes of a cluster pull the images of sandboxes, from registries or from the platform. */
  readonly pullsImages?: boolean;
  /** Whether sandboxes can be created from templates that another driver builds. Those that `builds` makes always can. */
  readonly usesTemplates?: boolean;
  /** Whether a sandbox can have GPUs. */
  readonly hasGpus?: boolean;
  /** Whether `egressAllow` is enforced, even against root in the sandbox. */
  readonly limitsEgress?: boolean;
  /** Replaces `egressAllow` of a created sandbox, running or not, at once. Absent: not supported. */
  changeEgress?(id: string, allowed: readonly string[]): Promise<void>;
  /** Concurrent starts per workspace. Absent: as many as this machine has processors, because it runs them. */
  readonly parallelStarts?: number;
  /** Fetches the image ahead of `create`, without a time limit. Absent: `create` does it. */
  prepareImage?(image: string, signal: AbortSignal): Promise<void>;
  /** Creates what persists: image and disk. Idempotent. */
  create(spec: SandboxSpec, signal: AbortSignal, place?: StartPlace): Promise<void>;
  /** Whether `create` has completed, so that starting needs neither image nor snapshot. */
  isCreated(id: string): Promise<boolean>;
  /** Starts a created sandbox with its existing files. Does nothing if it is running. */
  start(spec: SandboxSpec, signal: AbortSignal, place?: StartPlace): Promise<void>;
  /** Connects to the helper of a running sandbox. */
  connect(id: string, signal: AbortSignal): Promise<HelperConnection>;
  /**
   * Sets the limits and hostname of a running sandbox that has not been used yet; everything else must match its
   * start. Absent: not supported.
   */
  adjust?(spec: SandboxSpec): Promise<void>;
  /**
   * A version that changes when the name refers to another image; null if there is no image yet. Absent: names always
   * refer to the same image.
   */
  imageVersion?(image: string): Promise<string | null>;
  /** Absent: not supported. */
  readonly snapshots?: SnapshotDriver;
  /** In place of `snapshots`. Absent: not supported. */
  readonly saves?: SaveDriver;
  /** Absent: not supported. */
  readonly volumes?: VolumeDriver;
  /** Why this machine cannot mount buckets, in a few words for people; null if it can. Absent: not supported. */
  whyNoMounts?(): string | null;
  /** Absent: not supported. */
  readonly builds?: BuildDriver;
  /** Absent, or null until the driver is open: no prepared starts. */
  readonly preparedStarts?: PreparedStarts | null;
  /**
   * Adds secrets to the requests of a running sandbox from now on, instead of what was added before; null adds none. Ends
   * open connections for which this makes a difference. A stop ends it too. Absent: not supported.
   */
  applyRules?(id: string, live: LiveEgressRules | null): Promise<void>;
  inspect(id: string): Promise<SandboxCondition>;
  stats(id: string): Promise<SandboxStats>;
  /** Freezes all processes; memory is kept. Idempotent. Without the capability, throws PAUSE_UNAVAILABLE. */
  pause(id: string): Promise<void>;
  /** Continues a paused sandbox. Does nothing if it is not paused or not running. */
  resume(id: string): Promise<void>;
  /** Stops a sandbox, paused or not: asks its processes to end, kills the rest after `graceMs`, keeps the files. */
  stop(id: string, graceMs: number): Promise<void>;
  /** Kills a sandbox, paused or not, and deletes its files. Does nothing if it does not exist. */
  remove(id: string): Promise<void>;
  list(): Promise<readonly FoundSandbox[]>;
  /** Releases all resources except the sandboxes, which keep running. */
  close(): Promise<void>;
}

/**
 * Ids become names of folders, control groups and containers. The platform generates them; this check ensures that an
 * id is never a path even if it did not.
 */
export function assertSandboxId(id: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id)) {
    throw sandboxErrors.RUNTIME_FAILED({ details: { reason: 'invalid sandbox ID' } });
  }
}
