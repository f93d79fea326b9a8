import type { OutputAck } from '@svc/protocol';
import type { Clock } from '../../domain/clock.ts';

/** An agent keeps a number of unacknowledged pieces before it pauses; acknowledging at half of that is early enough. */
const GATHER_MS = 100;
const MAX_COMMANDS = 256;

/** Acknowledges output in few messages: the newest number of each command. */
export class OutputAcks {
  readonly #clock: Clock;
  readonly #send: (ack: OutputAck) => void;
  readonly #newest = new Map<string, number>();
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, send: (ack: OutputAck) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  arrived(commandId: string, seq: number): void {
    this.#newest.set(commandId, Math.max(seq, this.#newest.get(commandId) ?? 0));
    if (this.#newest.size >= MAX_COMMANDS) this.#flush();
    else this.#cancelTimer ??= this.#clock.setTimer(() => this.#flush(), GATHER_MS);
  }

  close(): void {
    this.#cancelTimer?.();
  }

  #flush(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const outputs = [...this.#newest].map(([commandId, seq]) => ({ command_id: commandId, seq }));
    this.#newest.clear();
    this.#send({ outputs });
  }
}
