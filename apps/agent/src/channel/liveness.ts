import type { Clock } from '../clock.ts';

export interface LivenessOptions {
  clock: Clock;
  pingIntervalMs: number;
  pongTimeoutMs: number;
  ping(): void;
  /** While we do not read ourselves, silence says nothing. */
  deaf(): boolean;
  dead(): void;
}

/** Pings, and gives the link up when nothing at all came back in time: a half-open one is found within 25 s. */
export class Liveness {
  readonly #options: LivenessOptions;
  #cancel: () => void;
  #heardAtMs: number;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#heardAtMs = options.clock.nowMs();
    this.#cancel = this.#schedule(options.pingIntervalMs, () => this.#ping());
  }

  /** Any frame of the peer is a sign of life. */
  heard(): void {
    this.#heardAtMs = this.#options.clock.nowMs();
  }

  stop(): void {
    this.#cancel();
  }

  #ping(): void {
    const { clock, pongTimeoutMs, ping } = this.#options;
    const askedAtMs = clock.nowMs();
    ping();
    this.#cancel = this.#schedule(pongTimeoutMs, () => this.#judge(askedAtMs));
  }

  #judge(askedAtMs: number): void {
    const { pingIntervalMs, pongTimeoutMs, deaf, dead } = this.#options;
    if (this.#heardAtMs < askedAtMs && !deaf()) {
      dead();
      return;
    }
    this.#cancel = this.#schedule(Math.max(0, pingIntervalMs - pongTimeoutMs), () => this.#ping());
  }

  #schedule(delayMs: number, action: () => void): () => void {
    return this.#options.clock.setTimer(action, delayMs);
  }
}
