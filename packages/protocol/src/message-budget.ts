import { TokenBucket } from '@svc/runtime';
import { PROTOCOL_LIMITS } from './limits.ts';

/** Message rate, identical on both sides. */
interface MessageRate {
  perMinute: number;
  burst: number;
  /** Share of the burst reserved for control messages, 0..1. */
  controlShare: number;
}

/** The rate in each direction of each connection. */
export const CONTRACT_RATE: MessageRate = {
  perMinute: PROTOCOL_LIMITS.messagesPerMinute,
  burst: PROTOCOL_LIMITS.messagesBurst,
  controlShare: PROTOCOL_LIMITS.controlShare,
};

/** Rate limiter that reserves tokens for control messages, so that acks and results always find one. */
export class MessageBudget {
  #rate: MessageRate;
  readonly #nowMs: () => number;
  readonly #bucket: TokenBucket;

  constructor(rate: MessageRate, nowMs: () => number) {
    this.#rate = rate;
    this.#nowMs = nowMs;
    this.#bucket = new TokenBucket(rate, nowMs());
  }

  /** Applies the limits announced in `welcome`. */
  setRate(perMinute: number, burst: number): void {
    this.#rate = { ...this.#rate, perMinute, burst };
    this.#bucket.setRate({ perMinute, burst });
  }

  /** Returns 0 and takes a token if a message may be sent now; otherwise the milliseconds to wait. */
  take(control: boolean): number {
    const { burst, controlShare } = this.#rate;
    const nowMs = this.#nowMs();
    const waitMs = this.#bucket.waitMs(nowMs, control ? 1 : 1 + Math.floor(burst * controlShare));
    if (waitMs === 0) this.#bucket.take(nowMs);
    return waitMs;
  }
}
