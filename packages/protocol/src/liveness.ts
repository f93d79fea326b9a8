export interface LivenessOptions {
  /** The answer cancels it. */
  clock: { setTimer(callback: () => void, delayMs: number): () => void };
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
 * Pings, and gives the link up when nothing at all came back in time, the same on both sides: a half-open one is found
 * within one ping interval and one timeout. Half of the timeout goes to a message with the same question, since there are
 * proxies that let no pings through.
 */
export class Liveness {
  readonly #options: LivenessOptions;
  #cancel: () => void;
  /** Something came since the last ping. */
  #hasHeard = true;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#cancel = options.clock.setTimer(() => this.#ping(), options.pingIntervalMs);
  }

  /** Any frame of the peer is a sign of life. */
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
    if (!this.#hasHeard) ask();
    this.#cancel = clock.setTimer(() => this.#judge(), pongTimeoutMs / 2);
  }

  #judge(): void {
    const { clock, pingIntervalMs, pongTimeoutMs, deaf, onDead } = this.#options;
    if (!this.#hasHeard && !deaf()) {
      onDead();
      return;
    }
    this.#cancel = clock.setTimer(() => this.#ping(), Math.max(0, pingIntervalMs - pongTimeoutMs));
  }
}
