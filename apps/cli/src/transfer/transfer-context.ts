import type { S3Client } from '../s3/s3-client.ts';
import type { CustomerKey } from './customer-key.ts';
import type { BodyLimiter } from './body-limiter.ts';
import type { PartBuffers } from './part-buffers.ts';
import type { ProgressLine } from './progress.ts';

/** Shared state of all transfers. */
export interface TransferContext {
  client: S3Client;
  /** Shared by all transfers. */
  limiter: BodyLimiter;
  buffers: PartBuffers;
  /** Parallel parts of one object. */
  parallel: number;
  progress: ProgressLine;
  /** Folder of the journals. */
  stateFolder: string;
  /** Part size; larger if the object requires it. */
  partSizeBytes: number | undefined;
  /** Customer key of the objects. */
  customerKey: CustomerKey | null;
  /** Customer key of a copy's source within the platform. */
  sourceCustomerKey: CustomerKey | null;
  signal: AbortSignal;
}
