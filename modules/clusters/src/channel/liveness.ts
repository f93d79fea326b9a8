import type { Clock } from '../domain/clock.ts';

export interface LivenessOptions {
  clock: Clock;
  pingIntervalMs: number;
  pongTimeoutMs: number;
  ping: () => void;
  /** True while we do not read the socket ourselves: silence says nothing then. */
  deaf: () => boolean;
  onDead: () => void;
}

/** Finds a half-open link within one ping interval and one timeout. Any frame of the peer is a sign of life. */
export class Liveness {
  readonly #options: LivenessOptions;
  #cancel: () => void;
  #alive = true;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#cancel = options.clock.setTimer(() => this.#ping(), options.pingIntervalMs);
  }

  seen(): void {
    this.#alive = true;
  }

  stop(): void {
    this.#cancel();
  }

  #ping(): void {
    const { clock, pongTimeoutMs, ping } = this.#options;
    this.#alive = false;
    ping();
    this.#cancel = clock.setTimer(() => this.#judge(), pongTimeoutMs);
  }

  #judge(): void {
    const { clock, pingIntervalMs, pongTimeoutMs, deaf, onDead } = this.#options;
    if (!this.#alive && !deaf()) {
      onDead();
      return;
    }
    this.#cancel = clock.setTimer(() => this.#ping(), Math.max(0, pingIntervalMs - pongTimeoutMs));
  }
}
