import type { Target } from '../load/signature.ts';

/** An S3 server that was started for this run, with settings under which an answered write is on disk. */
export interface Engine extends Target {
  readonly name: string;
  stop(): Promise<void>;
}
