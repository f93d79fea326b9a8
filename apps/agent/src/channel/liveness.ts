import type { Clock } from '../clock.ts';

export interface LivenessOptions {
  clock: Clock;
  pingIntervalMs: number;
  pongTimeoutMs: number;
  ping(): void;
  /** The same question as a message, for a peer that can answer one. */
  ask(): void;
  /** While we do not read ourselves, silence says nothing. */
  deaf(): boolean;
  dead(): void;
}

/**
 * Pings, and gives the link up when nothing at all came back in time: a half-open one is found within 25 s. Half of that
 * time goes to a message with the same question, since there are proxies that let no pings through.
 */
export class Liveness {
  readonly #options: LivenessOptions;
  #cancel: () => void;
  /** Something came since the last ping. */
  #heard = true;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#cancel = this.#schedule(options.pingIntervalMs, () => this.#ping());
  }

  /** Any frame of the peer is a sign of life. */
  heard(): void {
    this.#heard = true;
  }

  stop(): void {
    this.#cancel();
  }

  #ping(): void {
    const { pongTimeoutMs, ping } = this.#options;
    this.#heard = false;
    ping();
    this.#cancel = this.#schedule(pongTimeoutMs / 2, () => this.#ask());
  }

  #ask(): void {
    const { pongTimeoutMs, ask } = this.#options;
    if (!this.#heard) ask();
    this.#cancel = this.#schedule(pongTimeoutMs / 2, () => this.#judge());
  }

  #judge(): void {
    const { pingIntervalMs, pongTimeoutMs, deaf, dead } = this.#options;
    if (!this.#heard && !deaf()) {
      dead();
      return;
    }
    this.#cancel = this.#schedule(Math.max(0, pingIntervalMs - pongTimeoutMs), () => this.#ping());
  }

  #schedule(delayMs: number, action: () => void): () => void {
    return this.#options.clock.setTimer(action, delayMs);
  }
}
