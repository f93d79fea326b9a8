import type { Duplex } from 'node:stream';
import type { BlockMemory } from './block-memory.ts';

/** A stream that can lend what arrives instead of giving it away, so that one piece of memory serves all that comes. */
export interface LendingStream extends Duplex {
  /** Of whoever owns the stream, for those who pass on what it lends. */
  readonly memory: BlockMemory;
  /**
   * Instead of reading: `take` is called with what arrives and may use it until it returns. False asks for a pause until
   * `lendMore`. The end is told by `end`, as ever.
   */
  lend(take: (bytes: Buffer) => boolean): void;
  lendMore(): void;
}

export function isLending(stream: Duplex): stream is LendingStream {
  return 'lendMore' in stream;
}
