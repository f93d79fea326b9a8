import type { Target } from '../load/signature.ts';

/** An S3 server started for this run, configured so that an acknowledged write is on disk. */
export interface Engine extends Target {
  readonly name: string;
  stop(): Promise<void>;
}
