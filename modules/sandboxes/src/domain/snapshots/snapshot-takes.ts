import { isAppError } from '@svc/errors';
import { sandboxErrors } from '../../errors.ts';

/**
 * The snapshots that are being taken here. A transfer out of a cluster may take hours: what stops or deletes its sandbox
 * ends it instead of waiting for it.
 */
export class SnapshotTakes {
  readonly #running = new Map<string, Set<AbortController>>();

  /** Takes a snapshot of a sandbox, waits for locks included. The signal aborts when `end` is called for the sandbox. */
  async run<Taken>(sandboxId: string, take: (signal: AbortSignal) => Promise<Taken>): Promise<Taken> {
    const controller = new AbortController();
    const takes = this.#running.get(sandboxId) ?? new Set();
    this.#running.set(sandboxId, takes.add(controller));
    try {
      return await take(controller.signal);
    } finally {
      takes.delete(controller);
      if (takes.size === 0) this.#running.delete(sandboxId);
    }
  }

  /** Whether a snapshot of the sandbox is being taken. */
  has(sandboxId: string): boolean {
    return this.#running.has(sandboxId);
  }

  /**
   * Ends the snapshots of a sandbox that take long, with SNAPSHOT_ENDED; they may leave it frozen. The others are complete
   * soon.
   */
  end(sandboxId: string, reason: string): void {
    for (const controller of this.#running.get(sandboxId) ?? []) {
      controller.abort(sandboxErrors.SNAPSHOT_ENDED({ details: { reason } }));
    }
  }
}

/** Whether a snapshot ends because its sandbox does, so that nothing in it must run again. */
export function isEnding({ aborted, reason }: AbortSignal): boolean {
  return aborted && isAppError(reason) && reason.code === 'SNAPSHOT_ENDED';
}
