import { SvcError } from '../errors.ts';
import type { TerminalConnection } from './v1-connection.ts';

const MAX_FRAME_BYTES = 64 * 1024;
/** Limit of buffered input for servers that do not report how much they consumed. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
const CHECK_AGAIN_MS = 5;

/**
 * Sends input at the rate the server consumes it; a WebSocket alone would buffer all of it. Serializes writers. Keeps what
 * the server has not reported as taken, at most one window, to send it again on the next connection.
 */
export class InputWindow {
  /** Undefined until the connection's first message. */
  #limitBytes: number | null | undefined;
  /** Sent and not reported as taken. */
  #frames: Uint8Array[] = [];
  #onItsWayBytes = 0;
  #takenBytes = 0;
  /** Another connection follows the lost one. */
  #isPaused = false;
  #losses = 0;
  #wake: () => void = () => undefined;
  #last: Promise<void> = Promise.resolve();

  /** Resets the window for a new connection; input in flight on the previous one is lost. */
  begin(limitBytes: number | null): void {
    this.#limitBytes = limitBytes;
    this.#frames = [];
    this.#onItsWayBytes = 0;
    this.#takenBytes = 0;
    this.#isPaused = false;
    this.#wake();
  }

  /**
   * Continues on another connection. `takenBytes` is how much the server has taken of what the previous one sent; the rest
   * is sent again. `reported`: as much as it has said. Null: it does not know, and the rest is lost, because sending it
   * again could type it twice.
   */
  resume(limitBytes: number | null, connection: TerminalConnection, takenBytes: number | 'reported' | null): void {
    if (typeof takenBytes === 'number') this.taken(takenBytes - this.#takenBytes);
    const unknown = takenBytes === null ? this.#frames : [];
    const again = takenBytes === null ? [] : this.#frames;
    if (unknown.length > 0) this.#losses += 1;
    this.begin(limitBytes);
    for (const frame of again) this.#type(connection, frame);
  }

  /** Records that the server consumed this many bytes. */
  taken(bytes: number): void {
    this.#takenBytes += bytes;
    let left = Math.min(bytes, this.#onItsWayBytes);
    this.#onItsWayBytes -= left;
    let whole = 0;
    for (let frame = this.#frames[0]; frame !== undefined && left > 0; frame = this.#frames[whole]) {
      if (frame.length > left) this.#frames[whole] = frame.subarray(left);
      else whole += 1;
      left = Math.max(0, left - frame.length);
    }
    this.#frames.splice(0, whole);
    this.#wake();
  }

  /** Lets writers wait for the next connection. */
  pause(): void {
    this.#isPaused = true;
    this.#wake();
  }

  /** Rejects waiting writers because no connection follows. */
  end(): void {
    this.#isPaused = false;
    this.#wake();
  }

  /**
   * Resolves when everything is sent; rejects if the connection is lost first and no other one follows, or if earlier input
   * was lost. `current` returns null without a connection.
   */
  send(bytes: Uint8Array, current: () => TerminalConnection | null): Promise<void> {
    const losses = this.#losses;
    const sent = this.#last.then(() => this.#send(bytes, current, losses));
    this.#last = sent.catch(() => undefined);
    return sent;
  }

  async #send(bytes: Uint8Array, current: () => TerminalConnection | null, losses: number): Promise<void> {
    for (let start = 0; start < bytes.length; start += MAX_FRAME_BYTES) {
      const connection = await this.#room(current);
      if (losses !== this.#losses) throw new SvcError('The connection was lost, and with it what was typed last');
      this.#type(connection, bytes.slice(start, start + MAX_FRAME_BYTES));
    }
  }

  #type(connection: TerminalConnection, frame: Uint8Array): void {
    this.#onItsWayBytes += frame.length;
    // A server without a window never reports what it has taken.
    if (typeof this.#limitBytes === 'number') this.#frames.push(frame);
    connection.type(frame);
  }

  async #room(current: () => TerminalConnection | null): Promise<TerminalConnection> {
    for (;;) {
      const connection = current();
      if (connection === null && !this.#isPaused) throw new SvcError('The terminal is not connected');
      const limit = this.#limitBytes;
      if (connection !== null && !this.#isPaused) {
        if (typeof limit === 'number' && this.#onItsWayBytes + MAX_FRAME_BYTES <= limit) return connection;
        if (limit === null && connection.bufferedBytes <= MAX_BUFFERED_BYTES) return connection;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        // WebSockets don't report when data is sent.
        if (limit === null) setTimeout(resolve, CHECK_AGAIN_MS);
      });
    }
  }
}
