import type { Clock } from '@svc/runtime';

const INTERVAL_MS = 10_000;

/**
 * Sends `error` messages to a peer, at most one per code in ten seconds, so that a peer that answers errors with errors
 * or sends only invalid messages cannot keep us writing. None of them closes the connection.
 */
export class PeerErrors<Message extends { code: string }> {
  readonly #lastMs = new Map<string, number>();
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #send: (error: Message) => void;

  constructor(clock: Pick<Clock, 'nowMs'>, send: (error: Message) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Sends the error unless one with its code was sent a moment ago. Codes are a small fixed set. */
  report(error: Message): void {
    const nowMs = this.#clock.nowMs();
    const lastMs = this.#lastMs.get(error.code);
    if (lastMs !== undefined && nowMs - lastMs < INTERVAL_MS) return;
    this.#lastMs.set(error.code, nowMs);
    this.#send(error);
  }
}
