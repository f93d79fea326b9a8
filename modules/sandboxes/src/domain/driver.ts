import type { AgentConnection } from './helper/agent-connection.ts';
import { sandboxErrors } from '../errors.ts';

export type NetworkMode = 'none' | 'egress';
/** `namespaces`: walls of the machine's own kernel. `gvisor`: a kernel of its own, between the sandbox and that one. */
export type Isolation = 'namespaces' | 'gvisor';

export interface SandboxResources {
  /** Thousandths of a CPU. */
  readonly cpuMillis: number;
  readonly memoryMb: number;
  readonly diskMb: number;
  readonly pids: number;
}

/** Everything that a driver needs to make one sandbox; it keeps what it needs to start it again. */
export interface SandboxSpec {
  readonly id: string;
  readonly hostname: string;
  /** A name of the catalog. */
  readonly image: string;
  /** Its first files are those of this snapshot, which has its image too. */
  readonly snapshotId?: string | null;
  readonly resources: SandboxResources;
  readonly network: NetworkMode;
  /** Host names, or `*.` and one, as `egressHost` gives them. Absent or null: whatever is public. */
  readonly egressAllow?: readonly string[] | null;
  readonly isolation: Isolation;
}

/** What a driver finds of a sandbox, whether or not the platform has a record of it. */
export interface FoundSandbox {
  readonly id: string;
  /** Also when it is paused. */
  readonly running: boolean;
  readonly paused: boolean;
}

export interface SandboxCondition {
  readonly running: boolean;
  /** The kernel killed processes of it for its memory limit. */
  readonly outOfMemory: boolean;
}

/** A number that the driver cannot tell is null. */
export interface SandboxStats {
  /** Time of all CPUs since the start. */
  readonly cpuMicroseconds: number | null;
  readonly memoryBytes: number | null;
  readonly pids: number | null;
  readonly diskBytes: number | null;
  /** Processes that the kernel killed for the memory limit since the start. */
  readonly oomKills: number | null;
}

export type DriverStatus =
  | { readonly available: true; readonly details: Readonly<Record<string, unknown>> }
  | {
      readonly available: false;
      /** One line for people. */
      readonly reason: string;
      /** The command that brings what is missing, when there is one. */
      readonly install: string | null;
    };

/** Copies of the files of sandboxes. A sandbox that was created from one needs it no more. */
export interface SnapshotDriver {
  /**
   * Copies the files of a sandbox that was created, running or not. They are those of one moment: what runs stands still
   * meanwhile, and goes on unless it was paused. The copy is on the disk when this answers, whole, or not there.
   */
  take(id: string, snapshotId: string): Promise<{ readonly sizeBytes: number }>;
  /** What a copy of it takes of this machine's disk at most; 0 where the driver keeps files elsewhere, or has none of it. */
  sizeBytes(of: { readonly sandbox: string } | { readonly snapshot: string }): Promise<number>;
  /** One that is not there is no error. */
  remove(snapshotId: string): Promise<void>;
  /** Also of what was cut off half-made. */
  list(): Promise<readonly string[]>;
}

export interface PreparedFigures {
  readonly ready: number;
  readonly target: number;
  /** Starts that found one that fits, and that did not. */
  readonly hits: number;
  readonly misses: number;
}

/** Halves of starts, made before anybody asked: nothing of an image or of a tenant is in them. */
export interface PreparedStarts {
  /**
   * The id of one that a sandbox of this kind can begin with, or null. It is the caller's from now on, who creates a sandbox
   * of that id, or gives it back unused.
   */
  take(wish: Omit<SandboxSpec, 'id' | 'hostname'>): string | null;
  giveBack(id: string): void;
  figures(): PreparedFigures;
}

/**
 * Where sandboxes run. One contract suite (`driver-contract.ts`) runs on every implementation and on the fake. All
 * methods throw an `AppError` of the module's catalogue; its code becomes the cause code of the sandbox.
 */
export interface SandboxDriver {
  readonly name: string;
  /** Finds out whether this machine can run sandboxes; never throws. */
  open(): Promise<DriverStatus>;
  status(): DriverStatus;
  /** Why no sandbox of this isolation can be made here: a few words for people. Null when it can. */
  whyUnsupported(isolation: Isolation): string | null;
  /** Whether it keeps `egressAllow`, also against root in the sandbox. */
  readonly limitsEgress?: boolean;
  /** Starts of one workspace that run at once. Absent: as many as this machine, which runs them, has processors. */
  readonly parallelStarts?: number;
  /** Gets the image before `create` asks for it, however long that takes. Absent: `create` does it. */
  prepareImage?(image: string, signal: AbortSignal): Promise<void>;
  /** Makes what lasts: image and disk. Repeating it changes nothing. */
  create(spec: SandboxSpec, signal: AbortSignal): Promise<void>;
  /** Whether `create` came to its end: it needs neither image nor snapshot to be started. */
  isCreated(id: string): Promise<boolean>;
  /** Runs what was created, with its files as they were left. Repeating it on a running one changes nothing. */
  start(spec: SandboxSpec, signal: AbortSignal): Promise<void>;
  /** A connection to the helper of a running sandbox. */
  connect(id: string, signal: AbortSignal): Promise<AgentConnection>;
  /**
   * Sets limits and host name of a running sandbox that nobody has used yet; everything else must be as it was started.
   * Absent: the driver cannot.
   */
  adjust?(spec: SandboxSpec): Promise<void>;
  /** Changes when the name stands for another image; null while there is none. Absent: names always mean the same. */
  imageVersion?(image: string): Promise<string | null>;
  /** Absent: the driver cannot. */
  readonly snapshots?: SnapshotDriver;
  /** Absent, or null until it is open: the driver makes none. */
  readonly preparedStarts?: PreparedStarts | null;
  inspect(id: string): Promise<SandboxCondition>;
  stats(id: string): Promise<SandboxStats>;
  /** Everything inside stands still and keeps its memory. Repeating it changes nothing. */
  pause(id: string): Promise<void>;
  /** Everything inside goes on where it stood. One that is not paused, or does not run, is no error. */
  resume(id: string): Promise<void>;
  /** Paused or not: asks everything inside to end, kills what has not after the time, keeps the files. */
  stop(id: string, graceMs: number): Promise<void>;
  /** Paused or not: ends it at once and removes its files. A sandbox that does not exist is no error. */
  remove(id: string): Promise<void>;
  list(): Promise<readonly FoundSandbox[]>;
  /** Lets go of everything but the sandboxes, which go on. */
  close(): Promise<void>;
}

/**
 * Ids become names of folders, control groups and containers. The platform makes them itself; that none is ever a path
 * does not depend on it.
 */
export function assertSandboxId(id: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id)) {
    throw sandboxErrors.RUNTIME_FAILED({ details: { reason: 'this is no id of a sandbox' } });
  }
}
