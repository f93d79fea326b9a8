import type { ChecksumAlgorithm, DigestName, DigestResults } from '../checksums/algorithms.ts';

/**
 * Consumes a chunk. A returned promise applies backpressure; an exception stops reading. The consumer calls `release`
 * when it no longer needs the chunk, which may be never.
 */
export type ContentConsumer = (chunk: Buffer, release?: () => void) => Promise<unknown> | undefined;

/** The bytes of a new object or part, and everything their sender declares about them. */
export interface ContentSource {
  sizeBytes: number;
  /** Passes every byte to the consumer. Resolves once all are consumed. */
  pump: (consume: ContentConsumer) => Promise<void>;
  /** The bytes arrive from a client, so they count as an upload in flight. */
  isUpload?: boolean;
  /** Checksum algorithm that the sender chose. */
  algorithm?: ChecksumAlgorithm;
  declared?: DeclaredDigests;
}

/** Digests that the sender declared. */
export interface DeclaredDigests {
  names: ReadonlySet<DigestName>;
  /** Throws if the bytes have other digests. Called after all bytes are consumed, so a trailer is known. */
  verify: (digests: DigestResults) => void;
}

/** Content in memory. */
export function createMemorySource(chunks: readonly Buffer[]): ContentSource {
  return {
    sizeBytes: chunks.reduce((sum, { length }) => sum + length, 0),
    pump: async (consume) => {
      for (const chunk of chunks) await consume(chunk);
    },
  };
}
