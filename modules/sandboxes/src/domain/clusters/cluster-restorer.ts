import { KeyedQueue, unlessAborted } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';
import type { Boots } from '../boots.ts';
import type { SandboxContext } from '../context.ts';
import type { LostSandbox, RestoreAttempts, SandboxMoves } from '../nodes/sandbox-moves.ts';
import type { SandboxFault } from '../sandbox.ts';
import type { SandboxService } from '../sandbox-service.ts';

/** The next check takes the rest. */
const MAX_AT_ONCE = 32;
/** A failed restore is repeated after this time, the next one after twice as long, and so on. */
const RESTORE_AGAIN_AFTER_MS = 10 * 60_000;
/** A sandbox that loses its pod again and again, for instance because its disk is too small, is not restored all the time. */
const MAX_RESTORES = 5;
/** After this time, the restores before count no more. */
const STABLE_AFTER_MS = 24 * 3_600_000;
/** What begins nothing costs little: a quota, or a cluster that does not remove what is left of a pod. */
const ASK_AGAIN_AFTER_MS = 10_000;
const MAX_ASK_AGAIN_AFTER_MS = 3_600_000;

export interface ClusterRestorerDeps {
  readonly context: SandboxContext;
  readonly moves: Pick<SandboxMoves, 'lostInClusters' | 'recreate' | 'noteRefusal' | 'abandon'>;
  readonly service: Pick<SandboxService, 'assertCanStart'>;
  readonly boots: Pick<Boots, 'begin' | 'has'>;
}

/**
 * Gives sandboxes of connected clusters new pods when theirs are gone with their files, from their newest snapshots, if their
 * owners chose that. One whose cluster is only away runs on there, and is left alone.
 */
export class ClusterRestorer {
  readonly #deps: ClusterRestorerDeps;
  /** By cluster: one that does not answer delays only its own sandboxes. */
  readonly #queue = new KeyedQueue();
  readonly #closed = new AbortController();

  constructor(deps: ClusterRestorerDeps) {
    this.#deps = deps;
  }

  /** Begins to restore what is lost, in the background. */
  async restore(): Promise<void> {
    const { context, moves } = this.#deps;
    const { storage, drivers, node, log } = context;
    const idle = drivers.clusterIds.filter((id) => !this.#queue.has(id));
    if (storage === null || idle.length === 0) return;
    const lost = await moves.lostInClusters(node, idle, MAX_AT_ONCE);
    for (const [clusterId, sandboxes] of Map.groupBy(lost, ({ sandbox }) => sandbox.cluster?.id ?? '')) {
      this.#queue
        .run(clusterId, () => this.#restoreAll(sandboxes))
        .catch((error: unknown) => log.error({ err: error, cluster: clusterId }, 'sandboxes could not be restored'));
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#queue.idle();
  }

  async #restoreAll(sandboxes: readonly LostSandbox[]): Promise<void> {
    const { signal } = this.#closed;
    for (const lost of sandboxes) {
      if (signal.aborted) return;
      if (!(await this.#attempt(lost)) && !signal.aborted) await this.#noteRefusal(lost);
    }
  }

  /** Returns whether a restore has begun, or is not needed any more. */
  async #attempt(lost: LostSandbox): Promise<boolean> {
    const { context, service, boots } = this.#deps;
    const { drivers, queue, log } = context;
    const { sandbox } = lost;
    const { id } = sandbox;
    try {
      if (drivers.isAway(sandbox) || boots.has(id) || queue.has(id)) return false;
      if (await drivers.of(sandbox).isCreated(id)) return false; // its files are there: a start continues with them
      if (this.#before(lost).restores >= MAX_RESTORES) return await this.#abandon(lost);
      await service.assertCanStart(sandbox);
      return (await this.#removeRest(lost)) && (await this.#recreate(lost));
    } catch (error) {
      log.info({ err: error, sandbox: id }, 'a sandbox without a pod cannot be restored yet');
      return false;
    }
  }

  /** Attempts since the sandbox last ran for long. Each restore has cleared the time of its start. */
  #before({ sandbox: { startedAt }, restores, refusals }: LostSandbox): RestoreAttempts {
    const isStable = startedAt !== null && this.#nowMs() - Date.parse(startedAt) >= STABLE_AFTER_MS;
    return isStable && restores > 0 ? { restores: 0, refusals: 0 } : { restores, refusals };
  }

  /** Removes what the cluster keeps of a pod that has ended. Returns false if the sandbox was started meanwhile. */
  async #removeRest({ sandbox }: LostSandbox): Promise<boolean> {
    const { queue, drivers, repository } = this.#deps.context;
    const { id } = sandbox;
    return queue.run(id, async () => {
      if ((await repository.find(id))?.status !== 'error') return false;
      const { signal } = this.#closed;
      await unlessAborted(drivers.of(sandbox).remove(id), signal, () => new Error('the platform is shutting down'));
      return true;
    });
  }

  async #recreate(lost: LostSandbox): Promise<boolean> {
    const { context, moves, boots } = this.#deps;
    const { quotaLimits, watch, log } = context;
    const { sandbox, snapshotId: snapshot, snapshotCreatedAt: taken_at } = lost;
    const restores = this.#before(lost).restores + 1;
    // The last one is judged as soon as the first.
    const waitMs = RESTORE_AGAIN_AFTER_MS * (restores === MAX_RESTORES ? 1 : 2 ** (restores - 1));
    const limits = await quotaLimits.readLimits(sandbox.workspaceUuid);
    const nextAttemptAt = new Date(this.#nowMs() + waitMs);
    const outcome = await moves.recreate(lost, { restores, refusals: 0 }, nextAttemptAt, limits);
    if ('breach' in outcome || outcome.sandbox === null) return false; // a quota, or its owner was faster
    log.warn({ sandbox: sandbox.id, snapshot, taken_at }, 'a sandbox whose pod was lost continues from its snapshot');
    watch.announce(sandbox.id, outcome.sandbox);
    boots.begin(outcome.sandbox);
    return true;
  }

  async #noteRefusal(lost: LostSandbox): Promise<void> {
    const { restores, refusals } = this.#before(lost);
    const waitMs = Math.min(MAX_ASK_AGAIN_AFTER_MS, ASK_AGAIN_AFTER_MS * 2 ** refusals);
    const nextAttemptAt = new Date(this.#nowMs() + waitMs);
    await this.#deps.moves.noteRefusal(lost.sandbox.id, { restores, refusals: refusals + 1 }, nextAttemptAt);
  }

  async #abandon(lost: LostSandbox): Promise<true> {
    const { watch, log } = this.#deps.context;
    const { id, fault } = lost.sandbox;
    const left = await this.#deps.moves.abandon(lost, failedFault(fault));
    if (left !== null) {
      log.warn({ sandbox: id, restores: lost.restores }, 'a sandbox is not restored any more');
      watch.announce(id, left);
    }
    return true;
  }

  #nowMs(): number {
    return this.#deps.context.clock.nowMs();
  }
}

function failedFault(last: SandboxFault | null): SandboxFault {
  const { message } = sandboxErrors.RESTORE_FAILED({ details: { count: MAX_RESTORES } });
  const reason = last === null ? '' : `. The last failure: ${last.message}`;
  return { code: 'RESTORE_FAILED', message: `${message}${reason}`.slice(0, 1000), recoverable: true };
}
