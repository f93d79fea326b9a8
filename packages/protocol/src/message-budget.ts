import { PROTOCOL_LIMITS } from './limits.ts';

/** Messages that may be sent; the same numbers on both sides. */
interface MessageRate {
  perMinute: number;
  burst: number;
  /** Part of the burst that only control messages may use, 0..1. */
  controlShare: number;
}

/** The rate that both sides keep to, in each direction of each connection. */
export const CONTRACT_RATE: MessageRate = {
  perMinute: PROTOCOL_LIMITS.messagesPerMinute,
  burst: PROTOCOL_LIMITS.messagesBurst,
  controlShare: PROTOCOL_LIMITS.controlShare,
};

/** A bucket of tokens. What is not control must leave a reserve, so that acks and results always find one. */
export class MessageBudget {
  #rate: MessageRate;
  readonly #nowMs: () => number;
  #tokens: number;
  #countedAtMs: number;

  constructor(rate: MessageRate, nowMs: () => number) {
    this.#rate = rate;
    this.#nowMs = nowMs;
    this.#tokens = rate.burst;
    this.#countedAtMs = nowMs();
  }

  /** Takes on the limits that a welcome told. */
  setRate(perMinute: number, burst: number): void {
    this.#rate = { ...this.#rate, perMinute, burst };
    this.#tokens = Math.min(this.#tokens, burst);
  }

  /** 0 when one message may go now and was counted, else the milliseconds until it may. */
  take(control: boolean): number {
    const { perMinute, burst, controlShare } = this.#rate;
    const nowMs = this.#nowMs();
    const perMs = perMinute / 60_000;
    // A clock that was set back takes no tokens away.
    this.#tokens = Math.min(burst, this.#tokens + Math.max(0, nowMs - this.#countedAtMs) * perMs);
    this.#countedAtMs = nowMs;
    const needed = control ? 1 : 1 + Math.floor(burst * controlShare);
    if (this.#tokens >= needed) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((needed - this.#tokens) / perMs));
  }
}
