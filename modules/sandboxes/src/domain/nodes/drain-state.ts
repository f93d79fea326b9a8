import { sandboxErrors } from '../../errors.ts';

/** Another node may take sandboxes by then. */
const RETRY_AFTER_SECONDS = '5';

/** State reason of a stopped sandbox with which a drain has more to do: end its processes, or take its snapshot. */
export const DRAINING = 'NODE_DRAINING';
/** State reason of a stopped sandbox that a drain has left to any other node. */
export const MOVING = 'NODE_MOVING';
/** State reason of a sandbox with which a drain is done. */
export const DRAINED = 'NODE_DRAINED';

/** Whether this node is being drained, as last read from the database. */
export class DrainState {
  readonly #node: string;
  #isDraining = false;

  constructor(node: string) {
    this.#node = node;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  set(isDraining: boolean): void {
    this.#isDraining = isDraining;
  }

  /** Throws NODE_DRAINING: a drained node starts no sandbox, whether new or stopped. */
  assertTakesSandboxes(): void {
    if (!this.#isDraining) return;
    throw sandboxErrors.NODE_DRAINING({
      details: { node: this.#node },
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
    });
  }
}
