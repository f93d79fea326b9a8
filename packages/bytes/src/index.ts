export { BLOCK_BYTES, BlockMemory } from './block-memory.ts';
export { BlockWriter } from './block-writer.ts';
export { freeAfter, freeChunk } from './free-chunk.ts';
export { isLending, type LendingStream } from './lending-stream.ts';
export { lendReads } from './lent-reads.ts';
