import type { Command, CommandOutcome } from '../outcome.ts';

/** Start parameters of the writer thread. */
export interface WriterSettings {
  file: string;
  pragmas: readonly string[];
  /** Size at which the write-ahead log is checkpointed. */
  checkpointBytes: number;
}

/** Requests of the writer thread to the checkpoint thread. */
export type CheckpointRequest = 'copy' | 'close';
export type CheckpointReply = 'copied';

export type WriterRequest = { kind: 'batch'; commands: readonly Command[] } | { kind: 'close' };
export type WriterReply =
  | { kind: 'ready' }
  | { kind: 'batch'; outcomes: readonly CommandOutcome[]; bucketsChanged: boolean }
  | { kind: 'closed' };
