import type { QuotaLimits } from '@svc/quotas';
import type { DiskSpace, FairSlots } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { SandboxDriver } from './driver.ts';
import type { KeyedMutex } from './keyed-mutex.ts';
import type { LiveSandboxes } from './live-sandboxes.ts';
import type { Effects, SandboxRepository } from './ports.ts';
import type { StatusWatch } from './status-watch.ts';

/** What the parts of the domain share. */
export interface SandboxContext {
  readonly repository: SandboxRepository;
  readonly driver: SandboxDriver;
  readonly live: LiveSandboxes;
  readonly watch: StatusWatch;
  /** Whatever changes a sandbox on the machine runs under its id here. */
  readonly mutex: KeyedMutex;
  readonly effects: Effects;
  /** The limits that hold now. */
  readonly quotaLimits: QuotaLimits;
  readonly node: string;
  readonly log: Logger;
  /** The disk of the data folder, without its reserve. */
  readonly disk: DiskSpace;
  /** Places for work of the machine: starts and removals take turns by workspace. */
  readonly places: FairSlots;
}
