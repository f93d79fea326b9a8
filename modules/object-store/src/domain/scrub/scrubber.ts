import { setTimeout as delay } from 'node:timers/promises';
import { BackgroundLoop, type Clock } from '@svc/runtime';
import type { Logger, Metrics } from '@svc/telemetry';
import { type CrcKernel, finishRegister, initialRegister } from '../checksums/crc-kernel.ts';
import type { BlobStore } from '../ports/blob-store.ts';
import type { BlobCommands, BlobQueries, BlobRecord, VerifiedBlob, BlobState } from '../ports/blobs.ts';
import type { TrashQueries } from '../ports/trash.ts';
import type { WorkLeaseCommands } from '../ports/work-leases.ts';
import { isAppError } from '@svc/errors';

export interface ScrubDeps {
  metadata: BlobCommands & BlobQueries & TrashQueries & WorkLeaseCommands;
  blobs: BlobStore;
  kernel: CrcKernel;
  log: Logger;
  metrics: Metrics;
  clock: Clock;
}

export interface ScrubFinding {
  blobId: string;
  state: 'damaged' | 'missing';
  /** Some of the versions that contain it. */
  objects: readonly { bucket: string; key: string; versionId: string }[];
}

export interface ScrubReport {
  verified: number;
  bytes: number;
  /** Blobs that had no checksum and have one now. */
  learned: number;
  /** Blobs that could not be read. They are retried later. */
  unreadable: number;
  findings: readonly ScrubFinding[];
}

const BATCH = 32;
const ROUND_MS = 60_000;
const MOST_FINDINGS = 1_000;
const OBJECTS_NAMED = 10;

interface Tally {
  verified: number;
  bytes: number;
  learned: number;
  unreadable: number;
  findings: ScrubFinding[];
}

type ScrubMetrics = ReturnType<typeof scrubMetrics>;

function scrubMetrics(metrics: Metrics) {
  return {
    blobs: metrics.counter('svc_object_store_scrub_blobs_total', 'Verified blobs by result', ['state']),
    bytes: metrics.counter('svc_object_store_scrub_bytes_total', 'Bytes read to verify blobs'),
    lastRound: metrics.gauge(
      'svc_object_store_scrub_done_timestamp_seconds',
      'Time at which all blobs were last verified within the cycle',
    ),
  };
}

/** Verifies stored bytes against their checksums, least recently verified first. One blob at a time. */
export class Scrubber {
  readonly #deps: ScrubDeps;
  readonly #counted: ScrubMetrics;

  constructor(deps: ScrubDeps) {
    this.#deps = deps;
    this.#counted = scrubMetrics(deps.metrics);
  }

  /**
   * Runs until the signal aborts. Verifies everything once per cycle, at a limited rate that leaves disk bandwidth to
   * requests.
   */
  async run(options: { cycleMs: number; bytesPerSecond: number }, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    const loop = new BackgroundLoop({
      run: async () => {
        const { unreadable } = await this.scrub({ ...options, beforeMs: clock.nowMs() - options.cycleMs, signal });
        if (unreadable === 0) this.#counted.lastRound.set(clock.nowMs() / 1_000);
      },
      intervalMs: ROUND_MS,
      onError: (error) => {
        if (!signal.aborted) log.error({ err: error }, "the object store's scrub failed");
      },
    });
    await loop.runUntil(signal);
  }

  /** Verifies everything that was not verified since `beforeMs`, once. */
  async scrub(options: { beforeMs: number; bytesPerSecond: number; signal?: AbortSignal }): Promise<ScrubReport> {
    const { metadata, clock } = this.#deps;
    const { beforeMs, bytesPerSecond, signal } = options;
    const pace = new Pace(bytesPerSecond, clock, signal);
    const tally: Tally = { verified: 0, bytes: 0, learned: 0, unreadable: 0, findings: [] };
    for (;;) {
      // Unreadable blobs remain at the front of the queue, so skip them.
      const batch = await metadata.blobsToVerify({ beforeMs, limit: BATCH + tally.unreadable });
      const records = batch.slice(tally.unreadable);
      const results: VerifiedBlob[] = [];
      for (const record of records) {
        if (signal?.aborted === true) break;
        const result = await this.#verify(record, tally, pace);
        if (result !== null) results.push(result);
      }
      if (results.length > 0) await metadata.noteVerified({ blobs: results, nowMs: clock.nowMs() });
      for (const { blobId, state } of results) if (state === 'damaged') await this.#quarantine(blobId);
      if (records.length === 0 || signal?.aborted === true) return tally;
    }
  }

  async #verify(record: BlobRecord, tally: Tally, pace: Pace): Promise<VerifiedBlob | null> {
    const { metadata, log } = this.#deps;
    const read = (): Promise<Verdict> =>
      verifyBlob(this.#deps, record, (count) => {
        tally.bytes += count;
        this.#counted.bytes.inc(count);
        return pace.passed(count);
      });
    try {
      let verdict = await read();
      // Read again before quarantining: the fault may be in the transfer, not in the bytes.
      if (verdict.state !== 'good') verdict = await read();
      // A quarantined blob is damaged, not missing.
      if (verdict.state === 'missing' && record.state === 'damaged') verdict = { ...verdict, state: 'damaged' };
      tally.verified += 1;
      if (verdict.state === 'good' && record.crc64nvme === null) tally.learned += 1;
      if (verdict.state !== 'good') await this.#report(record.blobId, verdict.state, tally);
      this.#counted.blobs.inc({ state: verdict.state });
      return { blobId: record.blobId, ...verdict };
    } catch (error) {
      if ((await metadata.findBlob({ blobId: record.blobId })) === null) return null; // removed in the meantime
      tally.unreadable += 1;
      this.#counted.blobs.inc({ state: 'unreadable' });
      log.warn({ err: error, blob: record.blobId }, 'a blob could not be read to be verified');
      return null;
    }
  }

  async #report(blobId: string, state: 'damaged' | 'missing', tally: Tally): Promise<void> {
    const { metadata, log } = this.#deps;
    // Ignore missing blobs that only the trash refers to; they may be removed at any moment.
    const contents = await metadata.isContentNeeded({ kind: 'blob', contentId: blobId });
    if (!contents && state === 'missing') return;
    const objects = await metadata.objectsOfBlob({ blobId, limit: OBJECTS_NAMED });
    if (tally.findings.length < MOST_FINDINGS) tally.findings.push({ blobId, state, objects });
    log.error({ blob: blobId, state, objects }, 'stored bytes are lost or damaged');
  }

  async #quarantine(blobId: string): Promise<void> {
    const { blobs, log } = this.#deps;
    try {
      await blobs.quarantine(blobId);
    } catch (error) {
      log.error({ err: error, blob: blobId }, 'a damaged blob could not be set aside');
    }
  }
}

/** Shorter pauses cost more than they save. */
const SHORTEST_PAUSE_MS = 20;

/** Limits a reader to an average rate. */
class Pace {
  readonly #bytesPerSecond: number;
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  #startedAtMs: number;
  #bytes = 0;

  constructor(bytesPerSecond: number, clock: Clock, signal?: AbortSignal) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#clock = clock;
    this.#signal = signal;
    this.#startedAtMs = clock.nowMs();
  }

  passed(count: number): Promise<void> | undefined {
    this.#bytes += count;
    const elapsedMs = this.#clock.nowMs() - this.#startedAtMs;
    const aheadMs = (this.#bytes / this.#bytesPerSecond) * 1_000 - elapsedMs;
    if (aheadMs < -1_000) this.#restart(); // idle time earns no burst
    return aheadMs < SHORTEST_PAUSE_MS ? undefined : this.#pause(aheadMs);
  }

  async #pause(durationMs: number): Promise<void> {
    await delay(durationMs, undefined, this.#signal === undefined ? {} : { signal: this.#signal });
  }

  #restart(): void {
    this.#bytes = 0;
    this.#startedAtMs = this.#clock.nowMs();
  }
}

interface Verdict {
  state: BlobState;
  /** Checksum of the stored bytes. Null if they are incomplete. */
  crc64nvme: string | null;
}

/**
 * Reads a whole blob. Throws if it cannot be read at the moment (unreachable engine, failing disk), which says nothing
 * about the bytes. Calls `onBytes` as they arrive, which may delay reading.
 */
async function verifyBlob(
  { blobs, kernel }: { blobs: BlobStore; kernel: CrcKernel },
  record: Pick<BlobRecord, 'blobId' | 'sizeBytes' | 'crc64nvme'>,
  onBytes: (count: number) => Promise<void> | undefined = () => undefined,
): Promise<Verdict> {
  const sizeBytes = await blobs.size(record.blobId);
  if (sizeBytes === null) return { state: 'missing', crc64nvme: null };
  let register = initialRegister('CRC64NVME');
  try {
    for await (const chunk of blobs.read(record.blobId, { start: 0, endExclusive: sizeBytes })) {
      register = kernel.update('CRC64NVME', register, chunk);
      await onBytes(chunk.length);
    }
  } catch (error) {
    // The blob was there a moment ago: it was removed, or is shorter than its size.
    if (!isAppError(error) || error.code !== 'DataLost') throw error;
    return { state: (await blobs.size(record.blobId)) === null ? 'missing' : 'damaged', crc64nvme: null };
  }
  const crc64nvme = finishRegister('CRC64NVME', register).toString('hex');
  const good = sizeBytes === record.sizeBytes && (record.crc64nvme === null || record.crc64nvme === crc64nvme);
  return { state: good ? 'good' : 'damaged', crc64nvme };
}
