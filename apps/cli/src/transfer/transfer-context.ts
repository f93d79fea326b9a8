import type { S3Client } from '../s3/s3-client.ts';
import type { CustomerKey } from './customer-key.ts';
import type { BodyLimiter } from './body-limiter.ts';
import type { PartBuffers } from './part-buffers.ts';
import type { ProgressLine } from './progress.ts';

/** What every transfer needs. */
export interface TransferContext {
  client: S3Client;
  /** Over all transfers. */
  limiter: BodyLimiter;
  buffers: PartBuffers;
  /** Parts of one object at the same time. */
  parallel: number;
  progress: ProgressLine;
  /** Where journals are kept. */
  stateFolder: string;
  /** Parts of this size, or larger where the object needs it. */
  partSizeBytes: number | undefined;
  /** Under which objects are stored, or were. */
  customerKey: CustomerKey | null;
  /** The same of the source of a copy inside the platform. */
  sourceCustomerKey: CustomerKey | null;
  signal: AbortSignal;
}
