import { isAppError } from '@svc/errors';
import type { Boots } from '../boots.ts';
import type { SandboxContext } from '../context.ts';
import { UNREPORTED_MS } from '../lost-nodes.ts';
import type { SandboxService } from '../sandbox-service.ts';
import type { LostSandbox, SandboxMoves } from './sandbox-moves.ts';

/** Other nodes restore the rest, or this one does at its next check. */
const MAX_BOOTS = 8;

export interface SandboxRestorerDeps {
  readonly context: SandboxContext;
  readonly moves: SandboxMoves;
  readonly service: Pick<SandboxService, 'assertCanStart' | 'removeLeftover'>;
  readonly boots: Pick<Boots, 'begin' | 'underWay'>;
}

/**
 * Restores sandboxes of lost nodes here, from their last archived snapshots, and removes those of this node that were
 * restored elsewhere while it was lost.
 */
export class SandboxRestorer {
  readonly #deps: SandboxRestorerDeps;

  constructor(deps: SandboxRestorerDeps) {
    this.#deps = deps;
  }

  /** Takes sandboxes of silent nodes, as far as this node has room. A sandbox is taken by one node only. */
  async restore(silent: readonly string[]): Promise<void> {
    const { context, moves, boots } = this.#deps;
    const { driver, archives, log } = context;
    const format = driver.snapshots?.archives?.format;
    if (silent.length === 0 || archives === null || format === undefined || !driver.status().available) return;
    const room = MAX_BOOTS - boots.underWay;
    if (room <= 0) return;
    for (const lost of await moves.restorable(silent, driver.name, format, room)) {
      try {
        await this.#take(lost);
      } catch (error) {
        // Another node may have what this one lacks.
        const level = isAppError(error) ? 'info' : 'error';
        log[level]({ err: error, sandbox: lost.sandbox.id }, 'a lost sandbox cannot be restored here');
      }
    }
  }

  async #take(lost: LostSandbox): Promise<void> {
    const { context, moves, service, boots } = this.#deps;
    const { node, quotaLimits, watch, log } = context;
    const { id, workspaceUuid, node: from } = lost.sandbox;
    await service.assertCanStart(lost.sandbox);
    const limits = await quotaLimits.readLimits(workspaceUuid);
    const outcome = await moves.move(lost, node, limits, UNREPORTED_MS);
    if ('breach' in outcome) {
      log.info({ sandbox: id, quota: outcome.breach }, 'a lost sandbox exceeds a quota and is not restored');
      return;
    }
    if (outcome.sandbox === null) return; // another node was faster, or its own has returned
    const { snapshotId: snapshot, snapshotCreatedAt: taken_at } = lost;
    log.warn({ sandbox: id, from, snapshot, taken_at }, 'a sandbox of a lost node is restored here');
    watch.announce(id, outcome.sandbox);
    boots.begin(outcome.sandbox);
  }

  /** Ends what this node still has of sandboxes that were restored elsewhere. */
  async removeLeftovers(): Promise<void> {
    const { context, moves, service } = this.#deps;
    const { node, driver, log } = context;
    if (!driver.status().available) return;
    for (const id of await moves.leftBehind(node)) {
      await service.removeLeftover(id);
      await moves.forget(id, node);
      log.warn({ sandbox: id }, 'removed a sandbox that was restored on another node while this one was lost');
    }
  }
}
