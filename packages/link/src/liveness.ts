/** Dependencies and times of a liveness check. */
export interface LivenessOptions {
  /** Returns a function that cancels the timer. */
  clock: { setTimer(callback: () => void, delayMs: number): () => void };
  pingIntervalMs: number;
  pongTimeoutMs: number;
  ping: () => void;
  /** Sends a ping as a message, for peers that can answer one. */
  ask: () => void;
  /** True while we do not read the socket, so silence means nothing. */
  deaf: () => boolean;
  onDead: () => void;
}

/**
 * Pings the peer and ends the link if nothing arrives in time; the same on both sides. A half-open link is detected
 * within one ping interval (or half of the timeout, if that is longer) plus one timeout. The second half of the timeout
 * is for a ping as a message, since some proxies drop ping frames.
 */
export class Liveness {
  readonly #options: LivenessOptions;
  #cancel: () => void;
  /** Something arrived since the last ping. */
  #hasHeard = true;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#cancel = options.clock.setTimer(() => this.#ping(), options.pingIntervalMs);
  }

  /** Call for every frame; any frame is a sign of life. */
  heard(): void {
    this.#hasHeard = true;
  }

  stop(): void {
    this.#cancel();
  }

  #ping(): void {
    const { clock, pongTimeoutMs, ping } = this.#options;
    this.#hasHeard = false;
    ping();
    this.#cancel = clock.setTimer(() => this.#ask(), pongTimeoutMs / 2);
  }

  #ask(): void {
    const { clock, pongTimeoutMs, ask } = this.#options;
    if (this.#hasHeard) {
      this.#pingAgain(pongTimeoutMs / 2);
      return;
    }
    ask();
    this.#cancel = clock.setTimer(() => this.#judge(), pongTimeoutMs / 2);
  }

  #judge(): void {
    const { pongTimeoutMs, deaf, onDead } = this.#options;
    if (this.#hasHeard || deaf()) this.#pingAgain(pongTimeoutMs);
    else onDead();
  }

  /** Pings one interval after the last ping, or now if that has passed. */
  #pingAgain(sinceLastMs: number): void {
    const { clock, pingIntervalMs } = this.#options;
    this.#cancel = clock.setTimer(() => this.#ping(), Math.max(0, pingIntervalMs - sinceLastMs));
  }
}
