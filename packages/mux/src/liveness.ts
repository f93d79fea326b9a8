import type { Clock } from '@svc/runtime';

/** Options of the liveness check. */
export interface LivenessOptions {
  clock: Pick<Clock, 'nowMs' | 'setTimer'>;
  intervalMs: number;
  timeoutMs: number;
  /** Counter of all received bytes. */
  receivedBytes: () => number;
  sendPing: (payload: Buffer) => void;
  onDead: () => void;
}

const REMEMBERED_ROUND_TRIPS = 8;
/** Pauses before the second and third PING: the first round trip includes two processes that are still starting. */
const FIRST_PAUSES_MS: readonly number[] = [250, 1000];

/**
 * Pings the peer regularly and measures the round trip. Anything that arrives after a PING counts as a sign of life:
 * behind a slow bulk transfer, the PONG itself may be late.
 */
export class Liveness {
  readonly #options: LivenessOptions;
  #cancelTimer: () => void = () => undefined;
  #count = 0n;
  #asked: { id: bigint; atMs: number; receivedBytes: number } | null = null;
  #roundTripsMs: number[] = [];

  constructor(options: LivenessOptions) {
    this.#options = options;
  }

  /** The shortest recent round trip, since queues only ever make it longer. */
  get roundTripMs(): number | null {
    return this.#roundTripsMs.length === 0 ? null : Math.min(...this.#roundTripsMs);
  }

  /** Pings immediately, so that the round trip is known before the link is busy. */
  start(): void {
    if (this.#options.intervalMs > 0) this.#ask();
  }

  answered(payload: Buffer): void {
    if (this.#asked === null || payload.readBigUInt64BE(0) !== this.#asked.id) return;
    this.#roundTripsMs = [this.#options.clock.nowMs() - this.#asked.atMs, ...this.#roundTripsMs].slice(
      0,
      REMEMBERED_ROUND_TRIPS,
    );
    this.#asked = null;
    const { intervalMs } = this.#options;
    const pauseMs = Math.min(intervalMs, FIRST_PAUSES_MS[Number(this.#count) - 1] ?? intervalMs);
    this.#after(pauseMs, () => this.#ask());
  }

  stop(): void {
    this.#cancelTimer();
    this.#asked = null;
  }

  #ask(): void {
    this.#count += 1n;
    const payload = Buffer.alloc(8);
    payload.writeBigUInt64BE(this.#count);
    this.#asked = { id: this.#count, atMs: this.#options.clock.nowMs(), receivedBytes: this.#options.receivedBytes() };
    this.#options.sendPing(payload);
    this.#after(this.#options.timeoutMs, () => this.#late());
  }

  #late(): void {
    if (this.#asked === null) return;
    const receivedBytes = this.#options.receivedBytes();
    if (receivedBytes === this.#asked.receivedBytes) {
      this.#options.onDead();
      return;
    }
    this.#asked.receivedBytes = receivedBytes;
    this.#after(this.#options.timeoutMs, () => this.#late());
  }

  #after(delayMs: number, callback: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.setTimer(callback, delayMs);
  }
}
