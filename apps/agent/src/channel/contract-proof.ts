import { PROTOCOL_TIMES } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import type { Session } from './session.ts';

/**
 * A platform that knows only the contract never acknowledges, so messages sent to it count as delivered. A newer
 * platform announces its welcome in the handshake, but a proxy may drop that header, and a slow platform is then as
 * silent as a contract one. Silence therefore counts as proof only after the time that a welcome may take, summed over
 * connections; until then everything is kept. A welcome, however late, refutes the proof.
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

  /** Adds the silence of a connection; calls back once it amounts to proof. */
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
