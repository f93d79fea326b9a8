import type { MuxClock } from './clock.ts';

export interface LivenessOptions {
  clock: MuxClock;
  intervalMs: number;
  timeoutMs: number;
  /** Counts up with whatever arrives. */
  receivedBytes: () => number;
  sendPing: (payload: Buffer) => void;
  onDead: () => void;
}

const REMEMBERED_ROUND_TRIPS = 8;
/** Pauses before the second to fourth question: the first answer tells of two processes that are still busy with their start. */
const FIRST_PAUSES_MS: readonly number[] = [250, 1000, 4000];

/**
 * Asks regularly whether the other side is there, and measures the round trip. Anything that arrives after a question
 * counts as life: behind a slow bulk transfer the answer itself may be late.
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

  /** The shortest of the last ones: queues on the way only ever make it longer. */
  get roundTripMs(): number | null {
    return this.#roundTripsMs.length === 0 ? null : Math.min(...this.#roundTripsMs);
  }

  /** The first question at once, so that the round trip is known before the link is busy. */
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
