import { CrcKernel, fsck, Scrubber, type FsckReport, type ScrubReport } from '@svc/object-store';
import { systemClock } from '@svc/runtime';
import { createLogger, createMetrics } from '@svc/telemetry';
import type { PlatformConfig } from '../config.ts';
import { openObjectStore } from './open-store.ts';

/** Compares blobs and rows. Data that a running platform is writing at the moment is counted separately. */
export async function checkObjectStore(config: PlatformConfig): Promise<FsckReport> {
  const store = await openObjectStore(config);
  try {
    const settleMs = store.running ? config.object_store.sweep_grace_seconds * 1_000 : 0;
    return await fsck({ ...store, clock: systemClock }, { settleMs });
  } finally {
    await store.close();
  }
}

export interface ScrubRequest {
  /** Only data last verified longer ago than this; 0: everything. */
  olderThanMs: number;
  bytesPerSecond: number;
  signal: AbortSignal;
}

/** Reads stored bytes back. If interrupted, the next run continues from there. */
export async function scrubObjectStore(config: PlatformConfig, request: ScrubRequest): Promise<ScrubReport> {
  const store = await openObjectStore(config);
  try {
    const scrubber = new Scrubber({
      metadata: store.metadata,
      blobs: store.blobs,
      kernel: new CrcKernel(),
      log: createLogger({ ...config.log, name: 'svc' }),
      metrics: createMetrics(),
      clock: systemClock,
    });
    const { olderThanMs, bytesPerSecond, signal } = request;
    return await scrubber.scrub({ beforeMs: Date.now() - olderThanMs, bytesPerSecond, signal });
  } finally {
    await store.close();
  }
}
