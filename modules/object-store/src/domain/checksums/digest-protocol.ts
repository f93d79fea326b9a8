import type { DigestName } from './algorithms.ts';

/** Bodies are passed in slots of shared memory: copied once, hashed there, never cloned. */
export interface DigestWorkerSettings {
  memory: SharedArrayBuffer;
  slotBytes: number;
}

export type DigestRequest =
  | { kind: 'begin'; stream: number; names: readonly DigestName[] }
  | { kind: 'update'; stream: number; slot: number; length: number }
  | { kind: 'finish'; stream: number }
  | { kind: 'cancel'; stream: number }
  | { kind: 'close' };

export type DigestReply =
  | { kind: 'free'; slot: number }
  | { kind: 'digest'; stream: number; results: Partial<Record<DigestName, Uint8Array>> };
