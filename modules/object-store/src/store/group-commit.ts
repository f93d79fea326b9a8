import { FairQueue } from '@svc/runtime';
import { slowDown, storeErrors } from '../errors.ts';
import { toError, toOutcome, type Command, type CommandOutcome } from './outcome.ts';

/** Runs commands as one transaction with one fsync. Resolves once it is on stable storage. */
export type BatchRunner = (commands: readonly Command[]) => Promise<readonly CommandOutcome[]>;

export interface GroupCommitLimits {
  /** Maximum number of waiting commands. Further ones throw `SlowDown`. */
  maxQueued: number;
  /** Maximum number of waiting commands per tenant. */
  maxQueuedPerTenant: number;
  /** Maximum number of waiting commands of all tenants with the same share. */
  maxQueuedPerShare: number;
  maxBatch: number;
  /**
   * Inline bytes per batch, which are sent to the writer at once. The command that reaches the limit is the last in its
   * batch.
   */
  maxBatchBytes: number;
}

export const DEFAULT_GROUP_COMMIT_LIMITS: GroupCommitLimits = {
  maxQueued: 8_192,
  maxQueuedPerTenant: 4_096,
  maxQueuedPerShare: 6_144,
  maxBatch: 512,
  maxBatchBytes: 8 * 1024 * 1024,
};

/** Weight of a command without content, and what a tenant may add per turn. */
const COMMAND_BYTES = 4_096;
const TURN_BYTES = 64 * 1024;

interface Waiting {
  command: Command;
  weightBytes: number;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * Batches commands: those that arrive while a transaction is being written share the next one. There is no timer, so a
 * single command runs at once, and under load batches grow with the disk's latency. Owners, and the tenants of each,
 * take turns in a batch by the weight of their commands, so that one owner's burst delays another by at most one batch
 * plus its share of the next.
 */
export class GroupCommit {
  readonly #run: BatchRunner;
  readonly #limits: GroupCommitLimits;
  readonly #queue: FairQueue<Waiting>;
  #running: Promise<void> | null = null;
  #closed = false;

  /** `shareOf`: tenants with the same share take turns as one. */
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

  /** Rejects new commands, and resolves once the accepted ones are done. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #drain(): Promise<void> {
    await Promise.resolve(); // batch commands of the same tick
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
      const outcome = toOutcome(cause);
      for (const waiting of batch) settle(waiting, outcome);
    }
  }
}

function settle(waiting: Waiting, outcome: CommandOutcome | undefined): void {
  if (outcome?.kind === 'done') waiting.resolve(outcome.value);
  else waiting.reject(outcome === undefined ? storeErrors.InternalError() : toError(outcome));
}
