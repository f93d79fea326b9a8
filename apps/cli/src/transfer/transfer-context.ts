import type { S3Client } from '../s3/s3-client.ts';
import type { CustomerKey } from './customer-key.ts';
import type { Limiter } from './limiter.ts';
import type { ProgressLine } from './progress.ts';

/** What every transfer needs. */
export interface TransferContext {
  client: S3Client;
  /** Bodies on their way at the same time, over all transfers. */
  limiter: Limiter;
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
