import type { Clock } from '../domain/clock.ts';

export interface LivenessOptions {
  clock: Clock;
  pingIntervalMs: number;
  pongTimeoutMs: number;
  ping: () => void;
  /** The same question as a message, for a peer that can answer one. */
  ask: () => void;
  /** True while we do not read the socket ourselves: silence says nothing then. */
  deaf: () => boolean;
  onDead: () => void;
}

/**
 * Finds a half-open link within one ping interval and one timeout. Any frame of the peer is a sign of life. Half of the
 * timeout goes to a message, since there are proxies that let no pings through.
 */
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
    this.#cancel = clock.setTimer(() => this.#ask(), pongTimeoutMs / 2);
  }

  #ask(): void {
    const { clock, pongTimeoutMs, ask } = this.#options;
    if (!this.#alive) ask();
    this.#cancel = clock.setTimer(() => this.#judge(), pongTimeoutMs / 2);
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
