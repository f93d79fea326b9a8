import { AddressShares } from '@svc/addresses';
import type { Clock } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';

/** Each connection takes one of the 256 streams of the sandbox's helper. */
const MAX_PER_SANDBOX = 96;

/** A connection to a port: through a preview link, or forwarded over SSH, which has neither a link nor a time. */
export interface OpenPort {
  readonly sandboxId: string;
  readonly linkId: string | null;
  readonly expiresAtMs: number | null;
  /** The client's address if it needs no credential: such clients share the connections. Otherwise null. */
  readonly address: string | null;
}

interface OpenPreview {
  readonly port: OpenPort;
  readonly cut: () => void;
}

/** The connections of one sandbox. */
interface SandboxPorts {
  readonly shares: AddressShares;
  count: number;
}

/** Open connections to sandbox ports. Each ends when its link expires, at the latest. */
export class OpenPreviews {
  readonly #clock: Clock;
  readonly #open = new Set<OpenPreview>();
  readonly #bySandbox = new Map<string, SandboxPorts>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Registers a connection and returns the function to call when it ends. Throws PREVIEW_BUSY. */
  enter(port: OpenPort, cut: () => void): () => void {
    const release = this.#take(port);
    const entry: OpenPreview = { port, cut };
    this.#open.add(entry);
    const { expiresAtMs } = port;
    const leftMs = expiresAtMs === null ? null : Math.max(0, expiresAtMs - this.#clock.nowMs());
    const cancel = leftMs === null ? () => undefined : this.#clock.setTimer(cut, leftMs);
    return () => {
      if (!this.#open.delete(entry)) return;
      cancel();
      release();
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

  /** Strangers never take all, so that the next one and the clients with a credential find a place. */
  #take({ sandboxId, address }: OpenPort): () => void {
    const ports = this.#bySandbox.get(sandboxId) ?? {
      shares: new AddressShares({ capacity: MAX_PER_SANDBOX }),
      count: 0,
    };
    const { refusal, release } = address === null ? ports.shares.takeUnshared() : ports.shares.take(address);
    if (refusal !== null) {
      const holder = refusal.holder === 'replica' ? 'sandbox' : refusal.holder;
      throw sandboxErrors.PREVIEW_BUSY({ details: { ...refusal, holder }, headers: { 'retry-after': '1' } });
    }
    ports.count += 1;
    this.#bySandbox.set(sandboxId, ports);
    return () => {
      release();
      ports.count -= 1;
      if (ports.count === 0) this.#bySandbox.delete(sandboxId);
    };
  }
}
