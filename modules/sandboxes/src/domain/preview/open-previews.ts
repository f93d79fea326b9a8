import type { Clock } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';
import type { PreviewClaim } from './preview-token.ts';

/** Each connection takes one of the 256 streams of the sandbox's helper. */
const MAX_PER_SANDBOX = 96;

interface OpenPreview {
  readonly claim: PreviewClaim;
  readonly cut: () => void;
}

/** Open connections to sandbox ports. Each ends when its link expires, at the latest. */
export class OpenPreviews {
  readonly #clock: Clock;
  readonly #open = new Set<OpenPreview>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Registers a connection and returns the function to call when it ends. Throws PREVIEW_BUSY. */
  enter(claim: PreviewClaim, cut: () => void): () => void {
    let count = 0;
    for (const each of this.#open) if (each.claim.sandboxId === claim.sandboxId) count += 1;
    if (count >= MAX_PER_SANDBOX) {
      throw sandboxErrors.PREVIEW_BUSY({ details: { limit: MAX_PER_SANDBOX }, headers: { 'retry-after': '1' } });
    }
    const entry: OpenPreview = { claim, cut };
    this.#open.add(entry);
    const leftMs = Math.max(0, claim.expiresAtMs - this.#clock.nowMs());
    const cancel = this.#clock.setTimer(cut, leftMs);
    return () => {
      cancel();
      this.#open.delete(entry);
    };
  }

  cutLinks(linkIds: readonly string[]): void {
    for (const each of this.#open) if (linkIds.includes(each.claim.linkId)) each.cut();
  }

  close(): void {
    for (const each of this.#open) each.cut();
  }

  get size(): number {
    return this.#open.size;
  }
}
