import { FairQueue } from '@svc/runtime';
import { slowDown, storeErrors } from '../errors.ts';
import { toError, type Command, type CommandOutcome } from './outcome.ts';

/** Runs some commands as one transaction with one fsync; resolves when it is on stable storage. */
export type BatchRunner = (commands: readonly Command[]) => Promise<readonly CommandOutcome[]>;

export interface GroupCommitLimits {
  /** Commands that may wait; more are refused with `SlowDown`. */
  maxQueued: number;
  /** Commands of one tenant that may wait. */
  maxQueuedPerTenant: number;
  /** Commands of all tenants with the same share that may wait. */
  maxQueuedPerShare: number;
  maxBatch: number;
  /** Inline bytes of one batch, which all travel to the writer at once; the command that reaches it is the last. */
  maxBatchBytes: number;
}

export const DEFAULT_GROUP_COMMIT_LIMITS: GroupCommitLimits = {
  maxQueued: 8_192,
  maxQueuedPerTenant: 4_096,
  maxQueuedPerShare: 6_144,
  maxBatch: 512,
  maxBatchBytes: 8 * 1024 * 1024,
};

/** What a command without content counts for, and what a tenant may add in one turn. */
const COMMAND_BYTES = 4_096;
const TURN_BYTES = 64 * 1024;

interface Waiting {
  command: Command;
  weightBytes: number;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * What waits while a transaction is on its way to the disk shares the next one. No timer: alone, a command goes at once;
 * under load, batches are as large as the disk is slow. Owners, and the tenants of each, take turns in a batch by what
 * their commands carry, so that the burst of one delays another by one batch and its own share of the next.
 */
export class GroupCommit {
  readonly #run: BatchRunner;
  readonly #limits: GroupCommitLimits;
  readonly #queue: FairQueue<Waiting>;
  #running: Promise<void> | null = null;
  #closed = false;

  /** `shareOf`: tenants with the same share take the turns of one. */
  constructor(
    run: BatchRunner,
    shareOf: (tenant: string) => string,
    limits: GroupCommitLimits = DEFAULT_GROUP_COMMIT_LIMITS,
  ) {
    this.#run = run;
    this.#limits = limits;
    this.#queue = new FairQueue({
      maxItems: limits.maxQueued,
      maxItemsPerKey: limits.maxQueuedPerTenant,
      maxItemsPerGroup: limits.maxQueuedPerShare,
      quantum: TURN_BYTES,
      groupOf: shareOf,
    });
  }

  get waiting(): number {
    return this.#queue.size;
  }

  submit(command: Command, weightBytes: number, tenant: string): Promise<unknown> {
    if (this.#closed) return Promise.reject(storeErrors.ProviderUnavailable());
    return new Promise((resolve, reject) => {
      const waiting = { command, weightBytes, resolve, reject };
      if (this.#queue.push(tenant, waiting, weightBytes + COMMAND_BYTES) === null) reject(slowDown(1));
      else this.#running ??= this.#drain();
    });
  }

  /** Takes nothing more and resolves when all that was taken is answered. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #drain(): Promise<void> {
    await Promise.resolve(); // commands of the same turn go together
    while (this.#queue.size > 0) await this.#commit(this.#takeBatch());
    this.#running = null;
  }

  #takeBatch(): readonly Waiting[] {
    const batch: Waiting[] = [];
    for (let bytes = 0; batch.length < this.#limits.maxBatch && bytes < this.#limits.maxBatchBytes;) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      bytes += next.weightBytes;
      batch.push(next);
    }
    return batch;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#run(batch.map((waiting) => waiting.command));
      for (const [index, waiting] of batch.entries()) settle(waiting, outcomes[index]);
    } catch (cause) {
      for (const waiting of batch) waiting.reject(storeErrors.InternalError({ cause }));
    }
  }
}

function settle(waiting: Waiting, outcome: CommandOutcome | undefined): void {
  if (outcome?.kind === 'done') waiting.resolve(outcome.value);
  else waiting.reject(outcome === undefined ? storeErrors.InternalError() : toError(outcome));
}
