import type { Clock } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';

/** Each connection takes one of the 256 streams of the sandbox's helper. */
const MAX_PER_SANDBOX = 96;

/** A connection to a port: through a preview link, or forwarded over SSH, where both are null. */
export interface OpenPort {
  readonly sandboxId: string;
  readonly linkId: string | null;
  readonly expiresAtMs: number | null;
}

interface OpenPreview {
  readonly port: OpenPort;
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
  enter(port: OpenPort, cut: () => void): () => void {
    let count = 0;
    for (const each of this.#open) if (each.port.sandboxId === port.sandboxId) count += 1;
    if (count >= MAX_PER_SANDBOX) {
      throw sandboxErrors.PREVIEW_BUSY({ details: { limit: MAX_PER_SANDBOX }, headers: { 'retry-after': '1' } });
    }
    const entry: OpenPreview = { port, cut };
    this.#open.add(entry);
    const { expiresAtMs } = port;
    const leftMs = expiresAtMs === null ? null : Math.max(0, expiresAtMs - this.#clock.nowMs());
    const cancel = leftMs === null ? () => undefined : this.#clock.setTimer(cut, leftMs);
    return () => {
      cancel();
      this.#open.delete(entry);
    };
  }

  cutLinks(linkIds: readonly string[]): void {
    for (const { port, cut } of this.#open) if (port.linkId !== null && linkIds.includes(port.linkId)) cut();
  }

  close(): void {
    for (const each of this.#open) each.cut();
  }

  get size(): number {
    return this.#open.size;
  }
}
