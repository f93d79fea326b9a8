import type { Command, CommandOutcome } from '../outcome.ts';

/** What the writer thread is started with. */
export interface WriterSettings {
  file: string;
  pragmas: readonly string[];
  /** The write-ahead log is brought back into the database when it has grown to this. */
  checkpointBytes: number;
}

export type WriterRequest = { kind: 'batch'; commands: readonly Command[] } | { kind: 'close' };
export type WriterReply =
  | { kind: 'ready' }
  | { kind: 'batch'; outcomes: readonly CommandOutcome[]; bucketsChanged: boolean }
  | { kind: 'closed' };
