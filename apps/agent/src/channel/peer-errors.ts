import type { ErrorMessage } from '@svc/protocol';
import type { Clock } from '@svc/runtime';

const MAX_IN_A_MINUTE = 10;
const MAX_REMEMBERED_TYPES = 64;

/** Reports unusable messages to the peer at a limited rate: a few per minute, and each unknown type once. */
export class PeerErrors {
  readonly #clock: Clock;
  readonly #send: (error: ErrorMessage) => void;
  readonly #toldTypes = new Set<string>();
  #windowStartMs = Number.NEGATIVE_INFINITY;
  #toldInWindow = 0;

  constructor(clock: Clock, send: (error: ErrorMessage) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  report(error: ErrorMessage): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#windowStartMs >= 60_000) {
      this.#windowStartMs = nowMs;
      this.#toldInWindow = 0;
    }
    if (this.#toldInWindow >= MAX_IN_A_MINUTE) return;
    this.#toldInWindow += 1;
    this.#send(error);
  }

  reportUnknownType(type: string, messageId: string): void {
    if (this.#toldTypes.has(type) || this.#toldTypes.size >= MAX_REMEMBERED_TYPES) return;
    this.#toldTypes.add(type);
    this.report({
      code: 'UNKNOWN_MESSAGE_TYPE',
      message: `Messages of type ${type} are ignored`,
      details: { field: 'type', reason: 'unknown' },
      message_id: messageId,
    });
  }
}
