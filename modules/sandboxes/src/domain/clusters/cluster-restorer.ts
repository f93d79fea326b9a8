import type { Boots } from '../boots.ts';
import type { SandboxContext } from '../context.ts';
import type { MovableSandbox, SandboxMoves } from '../nodes/sandbox-moves.ts';
import type { SandboxService } from '../sandbox-service.ts';

/** The next check takes the rest. */
const MAX_AT_ONCE = 8;
/** A sandbox that loses its pod again and again, for instance because its disk is too small, is not restored all the time. */
const NOT_AGAIN_WITHIN_MS = 10 * 60_000;

export interface ClusterRestorerDeps {
  readonly context: SandboxContext;
  readonly moves: Pick<SandboxMoves, 'lostInClusters' | 'recreate'>;
  readonly service: Pick<SandboxService, 'assertCanStart'>;
  readonly boots: Pick<Boots, 'begin' | 'has'>;
}

/**
 * Gives sandboxes of connected clusters new pods when theirs are gone with their files, from their newest snapshots, if their
 * owners chose that. One whose cluster is only away runs on there, and is left alone.
 */
export class ClusterRestorer {
  readonly #deps: ClusterRestorerDeps;

  constructor(deps: ClusterRestorerDeps) {
    this.#deps = deps;
  }

  async restore(): Promise<void> {
    const { context, moves } = this.#deps;
    const { storage, drivers, node, log } = context;
    if (storage === null || drivers.clusterIds.length === 0) return;
    for (const lost of await moves.lostInClusters(node, drivers.clusterIds, MAX_AT_ONCE)) {
      const { id } = lost.sandbox;
      try {
        await this.#take(lost);
      } catch (error) {
        log.info({ err: error, sandbox: id }, 'a sandbox without a pod cannot be restored yet');
      }
    }
  }

  async #take(lost: MovableSandbox): Promise<void> {
    const { context, moves, service, boots } = this.#deps;
    const { drivers, queue, quotaLimits, watch, clock, log } = context;
    const { sandbox, snapshotId: snapshot, snapshotCreatedAt: taken_at } = lost;
    const { id, startedAt, lastActivityAt, snapshotId, workspaceUuid } = sandbox;
    const driver = drivers.of(sandbox);
    if (drivers.isAway(sandbox) || boots.has(id) || queue.has(id)) return;
    const sinceMs = clock.nowMs() - Date.parse(startedAt ?? lastActivityAt);
    if (snapshotId === snapshot && sinceMs < NOT_AGAIN_WITHIN_MS) return;
    if (await driver.isCreated(id)) return; // its files are there: a start continues with them
    await service.assertCanStart(sandbox);
    await queue.run(id, () => driver.remove(id)); // what the cluster keeps of a pod that has ended
    const limits = await quotaLimits.readLimits(workspaceUuid);
    const outcome = await moves.recreate(lost, limits);
    if ('breach' in outcome || outcome.sandbox === null) return; // a quota, or its owner was faster
    log.warn({ sandbox: id, snapshot, taken_at }, 'a sandbox whose pod was lost continues from its snapshot');
    watch.announce(id, outcome.sandbox);
    boots.begin(outcome.sandbox);
  }
}
