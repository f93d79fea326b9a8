import { storeErrors } from '../errors.ts';
import { toError, type Command, type CommandOutcome } from './outcome.ts';

/** Runs some commands as one transaction with one fsync; resolves when it is on stable storage. */
export type BatchRunner = (commands: readonly Command[]) => Promise<readonly CommandOutcome[]>;

export interface GroupCommitLimits {
  /** Commands that may wait; more are refused with `SlowDown`. */
  maxQueued: number;
  maxBatch: number;
  /** Inline bytes of one batch, which all travel to the writer at once. */
  maxBatchBytes: number;
}

export const DEFAULT_GROUP_COMMIT_LIMITS: GroupCommitLimits = {
  maxQueued: 8_192,
  maxBatch: 512,
  maxBatchBytes: 8 * 1024 * 1024,
};

interface Waiting {
  command: Command;
  weightBytes: number;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * What waits while a transaction is on its way to the disk shares the next one. No timer: alone, a command goes at once;
 * under load, batches are as large as the disk is slow.
 */
export class GroupCommit {
  readonly #run: BatchRunner;
  readonly #limits: GroupCommitLimits;
  readonly #queue: Waiting[] = [];
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(run: BatchRunner, limits: GroupCommitLimits = DEFAULT_GROUP_COMMIT_LIMITS) {
    this.#run = run;
    this.#limits = limits;
  }

  submit(command: Command, weightBytes: number): Promise<unknown> {
    if (this.#closed) return Promise.reject(storeErrors.ProviderUnavailable());
    if (this.#queue.length >= this.#limits.maxQueued) return Promise.reject(storeErrors.SlowDown());
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, weightBytes, resolve, reject });
      this.#running ??= this.#drain();
    });
  }

  /** Takes nothing more and resolves when all that was taken is answered. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #drain(): Promise<void> {
    await Promise.resolve(); // commands of the same turn go together
    while (this.#queue.length > 0) await this.#commit(this.#takeBatch());
    this.#running = null;
  }

  #takeBatch(): readonly Waiting[] {
    let count = 0;
    let bytes = 0;
    for (const waiting of this.#queue) {
      if (count >= this.#limits.maxBatch) break;
      if (count > 0 && bytes + waiting.weightBytes > this.#limits.maxBatchBytes) break;
      bytes += waiting.weightBytes;
      count += 1;
    }
    return this.#queue.splice(0, count);
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
