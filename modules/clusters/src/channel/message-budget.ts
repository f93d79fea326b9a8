import { PROTOCOL_LIMITS } from '@svc/protocol';

export interface MessageRate {
  perMinute: number;
  burst: number;
  /** Part of the burst that only control messages may use, 0..1. */
  controlShare: number;
}

export const CONTRACT_RATE: MessageRate = {
  perMinute: PROTOCOL_LIMITS.messagesPerMinute,
  burst: PROTOCOL_LIMITS.messagesBurst,
  controlShare: PROTOCOL_LIMITS.controlShare,
};

/** Token bucket of one direction of one connection. Output and events leave a share for acks, results, heartbeats. */
export class MessageBudget {
  readonly #rate: MessageRate;
  readonly #nowMs: () => number;
  #tokens: number;
  #updatedAtMs: number;

  constructor(rate: MessageRate, nowMs: () => number) {
    this.#rate = rate;
    this.#nowMs = nowMs;
    this.#tokens = rate.burst;
    this.#updatedAtMs = nowMs();
  }

  /** Takes one message: 0, or the milliseconds to wait until it can be taken. */
  take(control: boolean): number {
    const nowMs = this.#nowMs();
    const perMs = this.#rate.perMinute / 60_000;
    // A clock that was set back must not take tokens away.
    const elapsedMs = Math.max(0, nowMs - this.#updatedAtMs);
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + elapsedMs * perMs);
    this.#updatedAtMs = nowMs;
    const needed = 1 + (control ? 0 : this.#rate.burst * this.#rate.controlShare);
    if (this.#tokens >= needed) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((needed - this.#tokens) / perMs));
  }
}
