import { unlessAborted } from '@svc/runtime';
import { sandboxErrors } from '../errors.ts';

/** How long a request waits. A start takes seconds. */
const WAIT_LIMIT_MS = 20_000;

/**
 * The time from the start of the process until this node has taken up what runs on it and removed what its previous
 * process left unfinished. Requests arrive before that. What they would begin or use waits, because it would be taken
 * for a leftover or for lost.
 */
export class Recovery {
  #pending: PromiseWithResolvers<void> | null = Promise.withResolvers();

  /** It is over, or impossible: then nothing waits any longer. */
  end(): void {
    this.#pending?.resolve();
    this.#pending = null;
  }

  /**
   * Waits until it is over, except for what a connected cluster runs. Returns whether it had to: then records may have
   * changed. Throws the reason of the signal if it aborts first, or SANDBOXES_UNAVAILABLE after 20 s without one.
   */
  async wait(sandbox: { readonly cluster: object | null } | null = null, signal?: AbortSignal): Promise<boolean> {
    if (this.#pending === null || (sandbox !== null && sandbox.cluster !== null)) return false;
    const limit = signal ?? AbortSignal.timeout(WAIT_LIMIT_MS);
    const error = (): Error => (signal === undefined ? starting() : (limit.reason as Error));
    await unlessAborted(this.#pending.promise, limit, error);
    return true;
  }
}

function starting(): Error {
  const details = { reason: 'the platform is starting' };
  return sandboxErrors.SANDBOXES_UNAVAILABLE({ details, headers: { 'retry-after': '2' } });
}
