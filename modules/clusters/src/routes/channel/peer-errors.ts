import type { AppError } from '@svc/errors';
import type { ErrorMessage } from '@svc/protocol';
import type { Clock } from '../../domain/clock.ts';

const INTERVAL_MS = 10_000;

/**
 * `error` messages to a peer: one of each code in ten seconds, so that a peer that answers errors with errors, or sends
 * nothing but nonsense, cannot keep us writing. None of them closes the connection.
 */
export class PeerErrors {
  readonly #lastMs = new Map<string, number>();
  readonly #clock: Clock;
  readonly #send: (error: ErrorMessage) => void;

  constructor(clock: Clock, send: (error: ErrorMessage) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  tell(error: ErrorMessage): void {
    const nowMs = this.#clock.nowMs();
    const lastMs = this.#lastMs.get(error.code);
    if (lastMs !== undefined && nowMs - lastMs < INTERVAL_MS) return;
    this.#lastMs.set(error.code, nowMs); // our own few codes, so the map is bounded
    this.#send(error);
  }

  /** Codes of the protocol's catalogue -> codes that travel in messages. */
  tellAppError(error: AppError, messageId: string | undefined): void {
    this.tell({
      code: 'INVALID_REQUEST',
      message: error.message.slice(0, 1024),
      details: error.details,
      ...(messageId === undefined ? {} : { message_id: messageId }),
    });
  }
}
