import type { Duplex } from 'node:stream';
import type { BlockMemory } from './block-memory.ts';

/** A stream that can lend incoming bytes instead of giving them away, so that one buffer serves all reads. */
export interface LendingStream extends Duplex {
  /** Memory of the stream's owner, for consumers that pass on borrowed bytes. */
  readonly memory: BlockMemory;
  /**
   * Replaces reading: `take` is called with incoming bytes, which are valid until it returns. Returning false pauses
   * until `lendMore`. `end` is emitted as usual.
   */
  lend(take: (bytes: Buffer) => boolean): void;
  lendMore(): void;
}

/** Whether the stream can lend its reads. */
export function isLending(stream: Duplex): stream is LendingStream {
  return 'lendMore' in stream;
}
