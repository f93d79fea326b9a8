import type { AppError } from '@svc/errors';
import type { ErrorMessage } from '@svc/protocol';
import type { Clock } from '@svc/runtime';

const INTERVAL_MS = 10_000;

/**
 * Sends `error` messages to a peer, at most one per code in ten seconds, so that a peer that answers errors with errors
 * or sends only invalid messages cannot keep us writing. None of them closes the connection.
 */
export class PeerErrors {
  readonly #lastMs = new Map<string, number>();
  readonly #clock: Clock;
  readonly #send: (error: ErrorMessage) => void;

  constructor(clock: Clock, send: (error: ErrorMessage) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  report(error: ErrorMessage): void {
    const nowMs = this.#clock.nowMs();
    const lastMs = this.#lastMs.get(error.code);
    if (lastMs !== undefined && nowMs - lastMs < INTERVAL_MS) return;
    this.#lastMs.set(error.code, nowMs); // a small fixed set of codes, so the map is bounded
    this.#send(error);
  }

  /** Maps error codes of the protocol's catalogue to the codes used in messages. */
  reportAppError(error: AppError, messageId: string | undefined): void {
    this.report({
      code: 'INVALID_REQUEST',
      message: error.message.slice(0, 1024),
      details: error.details,
      ...(messageId === undefined ? {} : { message_id: messageId }),
    });
  }
}
