import { TokenBucket } from '@svc/runtime';
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

/** What is not control must leave a reserve of the tokens, so that acks and results always find one. */
export class MessageBudget {
  #rate: MessageRate;
  readonly #nowMs: () => number;
  readonly #bucket: TokenBucket;

  constructor(rate: MessageRate, nowMs: () => number) {
    this.#rate = rate;
    this.#nowMs = nowMs;
    this.#bucket = new TokenBucket(rate, nowMs());
  }

  /** Takes on the limits that a welcome told. */
  setRate(perMinute: number, burst: number): void {
    this.#rate = { ...this.#rate, perMinute, burst };
    this.#bucket.setRate({ perMinute, burst });
  }

  /** 0 when one message may go now and was counted, else the milliseconds until it may. */
  take(control: boolean): number {
    const { burst, controlShare } = this.#rate;
    const nowMs = this.#nowMs();
    const waitMs = this.#bucket.waitMs(nowMs, control ? 1 : 1 + Math.floor(burst * controlShare));
    if (waitMs === 0) this.#bucket.take(nowMs);
    return waitMs;
  }
}
