import { PROTOCOL_TIMES } from '@svc/protocol';
import type { Clock } from '../clock.ts';
import type { Session } from './session.ts';

/**
 * A platform of the contract acknowledges nothing: what left for it counts as delivered. One of ours says in the handshake
 * that it will introduce itself, but a proxy may drop that header, and then a slow one is as silent as one of the
 * contract. So silence proves something only after the time in which ours would have been given up, counted over
 * connections; until then everything is kept. A welcome, however late, undoes the proof.
 */
export class ContractProof {
  readonly #clock: Clock;
  #leftMs: number = PROTOCOL_TIMES.announcedTimeoutMs;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get holds(): boolean {
    return this.#leftMs === 0;
  }

  refute(): void {
    this.#leftMs = PROTOCOL_TIMES.announcedTimeoutMs;
  }

  /** Counts the silence of a connection; calls back when it has become proof. */
  watch(session: Session, onProven: () => void): void {
    if (session.mode !== 'contract' || this.holds) return;
    const beganMs = this.#clock.nowMs();
    const leftMs = this.#leftMs;
    const isSilent = (): boolean => session.mode === 'contract';
    const cancel = this.#clock.setTimer(() => {
      if (!isSilent() || session.closed) return;
      this.#leftMs = 0;
      onProven();
    }, leftMs);
    void session.ended.then(() => {
      cancel();
      if (isSilent() && !this.holds) this.#leftMs = Math.max(1, leftMs - Math.max(0, this.#clock.nowMs() - beganMs));
    });
  }
}
