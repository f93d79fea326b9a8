import { SvcError } from '../errors.ts';
import type { TerminalConnection } from './v1-connection.ts';

const MAX_FRAME_BYTES = 64 * 1024;
/** Limit of buffered input for servers that do not report how much they consumed. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
const CHECK_AGAIN_MS = 5;

/** Sends input at the rate the server consumes it; a WebSocket alone would buffer all of it. Serializes writers. */
export class InputWindow {
  /** Undefined until the connection's first message. */
  #limitBytes: number | null | undefined;
  #onItsWayBytes = 0;
  #wake: () => void = () => undefined;
  #last: Promise<void> = Promise.resolve();

  /** Resets the window for a new connection; input in flight on the previous one is lost. */
  begin(limitBytes: number | null): void {
    this.#limitBytes = limitBytes;
    this.#onItsWayBytes = 0;
    this.#wake();
  }

  /** Records that the server consumed this many bytes. */
  taken(bytes: number): void {
    this.#onItsWayBytes = Math.max(0, this.#onItsWayBytes - bytes);
    this.#wake();
  }

  /** Wakes waiting writers because the connection is gone. */
  end(): void {
    this.#wake();
  }

  /** Resolves when everything is sent; rejects if the connection is lost first. `current` returns null without one. */
  send(bytes: Uint8Array, current: () => TerminalConnection | null): Promise<void> {
    const sent = this.#last.then(() => this.#send(bytes, current));
    this.#last = sent.catch(() => undefined);
    return sent;
  }

  async #send(bytes: Uint8Array, current: () => TerminalConnection | null): Promise<void> {
    const connection = current();
    for (let start = 0; start < bytes.length; start += MAX_FRAME_BYTES) {
      await this.#room(connection, current);
      const frame = bytes.subarray(start, start + MAX_FRAME_BYTES);
      this.#onItsWayBytes += frame.length;
      connection?.type(frame);
    }
  }

  async #room(connection: TerminalConnection | null, current: () => TerminalConnection | null): Promise<void> {
    for (;;) {
      if (connection === null || current() !== connection) throw new SvcError('The terminal is not connected');
      const limit = this.#limitBytes;
      if (typeof limit === 'number' && this.#onItsWayBytes + MAX_FRAME_BYTES <= limit) return;
      if (limit === null && connection.bufferedBytes <= MAX_BUFFERED_BYTES) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        // WebSockets don't report when data is sent.
        if (limit === null) setTimeout(resolve, CHECK_AGAIN_MS);
      });
    }
  }
}
