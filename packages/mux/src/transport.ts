/** Callbacks from a transport to its session. */
export interface TransportEvents {
  /** The chunk's memory is reused after this returns. */
  data(chunk: Buffer): void;
  /** There is room again after `write` returned false. */
  drain(): void;
  /** Called once when no more data can arrive; null after a graceful end of the peer. */
  end(error: Error | null): void;
}

/** Transport of a session: ordered, reliable bytes in both directions. */
export interface MuxTransport {
  /** Called once, first. */
  start(events: TransportEvents): void;
  /**
   * Always accepts the bytes. Returns false to pause until `drain`. Calls `done` once their memory can be reused, or
   * never if that is unknown.
   */
  write(bytes: Buffer, done: () => void): boolean;
  /** Flushes, then closes. */
  end(): void;
  /** Closes immediately. */
  destroy(): void;
}
