import type { QuotaLimits } from '@svc/quotas';
import type { Random } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';
import { quotaExceeded } from '../admission.ts';
import type { Sandbox } from '../sandbox.ts';
import type { TerminalPlaces } from './terminal-places.ts';

const PLACE_ID_BYTES = 16;

export interface TerminalSlotsOptions {
  /** Maximum open terminals and commands per sandbox, whichever way they were opened. */
  readonly maxTerminals: number;
  /** The open terminals of all replicas, counted against the quotas of workspace and owner. */
  readonly places: TerminalPlaces;
  readonly quotaLimits: QuotaLimits;
  readonly random: Random;
  /** Called if a slot could not be released. */
  readonly failed: (error: unknown) => void;
}

/** Bounds the terminals of each sandbox and of each workspace. WebSockets and SSH share the slots. */
export class TerminalSlots {
  readonly #options: TerminalSlotsOptions;
  readonly #open = new Map<string, number>();
  readonly #releases = new Set<Promise<void>>();

  constructor(options: TerminalSlotsOptions) {
    this.#options = options;
  }

  /** Takes a slot and returns the function that releases it. Throws TOO_MANY_TERMINALS and QUOTA_EXCEEDED. */
  async take({ id, workspaceUuid }: Pick<Sandbox, 'id' | 'workspaceUuid'>): Promise<() => void> {
    const leave = this.#enter(id);
    try {
      const release = await this.#takePlace(workspaceUuid);
      return once(() => {
        leave();
        release();
      });
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Resolves when the slots released so far are free for other replicas, too. */
  async settled(): Promise<void> {
    await Promise.all(this.#releases);
  }

  #enter(id: string): () => void {
    const count = this.#open.get(id) ?? 0;
    const { maxTerminals } = this.#options;
    if (count >= maxTerminals) throw sandboxErrors.TOO_MANY_TERMINALS({ details: { limit: maxTerminals } });
    this.#open.set(id, count + 1);
    return () => {
      const left = (this.#open.get(id) ?? 1) - 1;
      if (left === 0) this.#open.delete(id);
      else this.#open.set(id, left);
    };
  }

  async #takePlace(workspaceUuid: string): Promise<() => void> {
    const { places, quotaLimits, random, failed } = this.#options;
    const id = random.bytes(PLACE_ID_BYTES).toString('hex');
    const breach = await places.take(id, await quotaLimits.readLimits(workspaceUuid));
    if (breach !== null) throw quotaExceeded(breach);
    return () => {
      const released: Promise<void> = places
        .release(id)
        .catch(failed)
        .finally(() => this.#releases.delete(released));
      this.#releases.add(released);
    };
  }
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}
