import { isAppError } from '@svc/errors';
import type { Boots } from '../boots.ts';
import type { SandboxContext } from '../context.ts';
import type { SandboxService } from '../sandbox-service.ts';
import { UNREPORTED_MS, type MovableSandbox, type SandboxMoves } from './sandbox-moves.ts';

/** Other nodes restore the rest, or this one does at its next check. */
const MAX_BOOTS = 8;

export interface SandboxRestorerDeps {
  readonly context: SandboxContext;
  readonly moves: SandboxMoves;
  readonly service: Pick<SandboxService, 'assertCanStart' | 'reserveRoom' | 'removeLeftover'>;
  readonly boots: Pick<Boots, 'begin' | 'underWay'>;
}

/**
 * Continues sandboxes of lost and drained nodes here, from their last archived snapshots, and removes those of this node
 * that continue elsewhere.
 */
export class SandboxRestorer {
  readonly #deps: SandboxRestorerDeps;

  constructor(deps: SandboxRestorerDeps) {
    this.#deps = deps;
  }

  /** Takes sandboxes of silent and of drained nodes, as far as this node has room. Each is taken by one node only. */
  async restore(silent: readonly string[]): Promise<void> {
    const { context, moves, boots } = this.#deps;
    const { driver, archives, drain, node, log } = context;
    const format = driver.snapshots?.archives?.format;
    if (archives === null || format === undefined || !driver.status().available || drain.isDraining) return;
    const room = MAX_BOOTS - boots.underWay;
    if (room <= 0) return;
    const lost = await moves.restorable(silent, driver.name, format, room);
    const left = await moves.leftByDrains(node, driver.name, format, room);
    for (const movable of [...lost, ...left].slice(0, room)) {
      try {
        await this.#take(movable);
      } catch (error) {
        // Another node may have what this one lacks.
        const level = isAppError(error) ? 'info' : 'error';
        log[level]({ err: error, sandbox: movable.sandbox.id }, 'a sandbox of another node cannot continue here');
      }
    }
  }

  async #take(movable: MovableSandbox): Promise<void> {
    const { context, service } = this.#deps;
    const { sandbox } = movable;
    await service.assertCanStart(sandbox);
    if ((await context.driver.snapshots?.archives?.mayContinue(sandbox.id)) !== true) return;
    const leaveRoom = await service.reserveRoom(sandbox);
    try {
      await this.#move(movable);
    } finally {
      leaveRoom();
    }
  }

  async #move(movable: MovableSandbox): Promise<void> {
    const { context, moves, boots } = this.#deps;
    const { node, quotaLimits, watch, log } = context;
    const { id, workspaceUuid, node: from } = movable.sandbox;
    const limits = await quotaLimits.readLimits(workspaceUuid);
    const outcome = await moves.move(movable, node, limits, UNREPORTED_MS);
    if ('breach' in outcome) {
      log.info(
        { sandbox: id, quota: outcome.breach },
        'a sandbox of another node exceeds a quota and does not continue here',
      );
      return;
    }
    if (outcome.sandbox === null) return; // another node was faster, or its own has returned
    const { snapshotId: snapshot, snapshotCreatedAt: taken_at } = movable;
    log.warn({ sandbox: id, from, snapshot, taken_at }, 'a sandbox of another node continues here');
    watch.announce(id, outcome.sandbox);
    boots.begin(outcome.sandbox);
  }

  /** Ends what this node still has of sandboxes that continue elsewhere. Returns whether nothing is left. */
  async removeLeftovers(): Promise<boolean> {
    const { context, moves, service } = this.#deps;
    const { node, driver, log } = context;
    const left = await moves.leftBehind(node);
    if (left.length > 0 && !driver.status().available) return false;
    let isDone = true;
    for (const id of left) {
      try {
        await service.removeLeftover(id);
        await moves.forget(id, node);
        log.warn({ sandbox: id }, 'removed a sandbox that continues on another node');
      } catch (error) {
        isDone = false;
        log.error({ err: error, sandbox: id }, 'a sandbox that continues on another node could not be removed yet');
      }
    }
    return isDone;
  }
}
