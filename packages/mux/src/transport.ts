export interface TransportEvents {
  /** The memory of the chunk is free for something else when it returns. */
  data(chunk: Buffer): void;
  /** There is room again after `write` said there was none. */
  drain(): void;
  /** Once, when nothing more can come; null when the other side ended in order. */
  end(error: Error | null): void;
}

/** What a session runs on: an ordered, reliable way for bytes in both directions. */
export interface MuxTransport {
  /** Once, before anything else. */
  start(events: TransportEvents): void;
  /**
   * Takes the bytes in any case; false asks to wait for `drain`. Calls `done` once their memory is free for something
   * else, or never where that cannot be known.
   */
  write(bytes: Buffer, done: () => void): boolean;
  /** Sends what was written, then closes. */
  end(): void;
  /** Closes at once. */
  destroy(): void;
}
