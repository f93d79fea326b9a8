import { isAppError } from '@svc/errors';
import { BackgroundLoop } from '@svc/runtime';
import type { AgingVersion } from '../ports/lifecycle-metadata.ts';
import type { BucketRecord } from '../ports/records.ts';
import type { BucketConfigurations } from '../bucket-configurations.ts';
import type { MultipartService } from '../multipart-service.ts';
import type { ObjectService } from '../object-service.ts';
import type { StoreDeps } from '../store-deps.ts';
import { WorkLease } from '../work-lease.ts';
import { decideExpiry, type ExpiryDecision } from './decide-expiry.ts';
import { parseLifecycleDocument, type LifecycleDocument } from './lifecycle-document.ts';
import { dueAfter, type LifecycleDay } from './rule-matching.ts';
import { prefixesOf, scanVersions } from './scan-bucket.ts';

const LEASE = 'lifecycle';
const LEASE_MS = 60_000;
/** Property that stores the position, so that an interrupted run resumes there. */
const POSITION = 'lifecycle-position';
const BATCH = 256;
/** Concurrent deletes share commits. */
const AT_A_TIME = 64;
/** Marks the deletion's events as lifecycle expirations. */
const EXPIRES = { expires: true };
/** Uploads that are neither completed nor aborted end after this, in every bucket. */
const ABANDONED_UPLOAD_DAYS = 7;

export interface LifecycleDeps {
  deps: StoreDeps;
  configurations: BucketConfigurations;
  objects: ObjectService;
  multipart: MultipartService;
}

export interface LifecycleReport {
  /** False if another replica holds the lease. */
  ran: boolean;
  expired: number;
  aborted: number;
}

interface Position {
  bucketId: number;
  prefix: string;
  key: string;
}

/**
 * Applies the lifecycle rules of all buckets. One replica at a time holds the lease. Each deletion is an ordinary,
 * conditional delete, so that newer writes are kept, and object lock, versioning, usage and trash apply as usual.
 */
export class LifecycleExecutor {
  readonly #using: LifecycleDeps;
  readonly #lease: WorkLease;
  readonly #day: LifecycleDay;
  readonly #everyMs: number;

  constructor(using: LifecycleDeps) {
    this.#using = using;
    const { metadata, identifiers, config, clock } = using.deps;
    const holder = identifiers.versionToken();
    this.#lease = new WorkLease({ metadata, name: LEASE, holder, durationMs: LEASE_MS, clock });
    const { day_seconds: daySeconds, interval_seconds: intervalSeconds } = config.lifecycle;
    this.#day = { lengthMs: daySeconds * 1_000 };
    this.#everyMs = Math.min(intervalSeconds * 1_000, this.#day.lengthMs / 5);
  }

  /** Runs until the signal aborts. Logs a failed run and resumes in the next one. */
  async run(signal: AbortSignal): Promise<void> {
    let intervalMs = this.#everyMs;
    const loop = new BackgroundLoop({
      run: async () => {
        intervalMs = this.#everyMs;
        // A killed replica leaves its lease behind; retry soon instead of waiting for hours.
        if (!(await this.round(signal)).ran) intervalMs = Math.min(intervalMs, LEASE_MS);
      },
      intervalMs: () => intervalMs,
      runsAtStart: true,
      onError: (err) => this.#using.deps.log.error({ err }, 'lifecycle rules could not be applied'),
    });
    await loop.runUntil(signal);
  }

  async round(signal: AbortSignal): Promise<LifecycleReport> {
    const report: LifecycleReport = { ran: false, expired: 0, aborted: 0 };
    if (!(await this.#lease.keep())) return report;
    report.ran = true;
    try {
      await this.#abortAbandoned(report, signal);
      await this.#allBuckets(report, signal);
    } finally {
      await this.#lease.release();
    }
    return report;
  }

  async #allBuckets(report: LifecycleReport, signal: AbortSignal): Promise<void> {
    const { metadata } = this.#using.deps;
    let start = parsePosition(await metadata.storeProperty({ name: POSITION }));
    for (let afterBucketId = start === null ? -1 : start.bucketId - 1; ;) {
      const buckets = await metadata.bucketsWithLifecycle({ afterBucketId, limit: BATCH });
      for (const bucket of buckets) {
        if (!(await this.#bucket(bucket, start?.bucketId === bucket.id ? start : null, report, signal))) return;
        start = null;
        afterBucketId = bucket.id;
      }
      if (buckets.length < BATCH) break;
    }
    await this.#savePosition('');
  }

  /** False if the run should end. */
  async #bucket(
    bucket: BucketRecord,
    start: Position | null,
    report: LifecycleReport,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (signal.aborted || !(await this.#lease.keep())) return false;
    const configuration = await this.#using.configurations.of(bucket);
    const document = configuration.parsed('lifecycle', parseLifecycleDocument);
    if (document === null) return true;
    for (const prefix of prefixesOf(document)) {
      if (start !== null && prefix < start.prefix) continue;
      const afterKey = prefix === start?.prefix ? start.key : '';
      if (!(await this.#below({ bucket, document, prefix, afterKey }, report, signal))) return false;
    }
    await this.#abortByRules(bucket, document, report, signal);
    return true;
  }

  async #below(
    { bucket, document, prefix, afterKey }: Scan,
    report: LifecycleReport,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { deps } = this.#using;
    let goesOn = true;
    let due: Promise<number>[] = [];
    const settle = async (): Promise<void> => {
      for (const count of await Promise.all(due)) report.expired += count;
      due = [];
    };
    const onPage = async (key: string): Promise<boolean> => {
      await settle();
      await this.#savePosition(JSON.stringify({ bucketId: bucket.id, prefix, key } satisfies Position));
      goesOn = !signal.aborted && (await this.#lease.keep());
      return goesOn;
    };
    const now = { nowMs: deps.clock.nowMs(), day: this.#day };
    for await (const { version, place } of scanVersions(
      deps.metadata,
      { bucketId: bucket.id, prefix, afterKey },
      onPage,
    )) {
      const decision = decideExpiry(document, version, place, now);
      if (decision !== 'keep') due.push(this.#expire(bucket, version, decision));
      if (due.length >= AT_A_TIME) await settle();
    }
    await settle();
    return goesOn;
  }

  /** 1 if the version was deleted, 0 if it is protected or has changed. */
  async #expire(
    bucket: BucketRecord,
    version: AgingVersion,
    decision: Exclude<ExpiryDecision, 'keep'>,
  ): Promise<number> {
    const { key, versionId, etag, modifiedAtMs } = version;
    try {
      if (decision === 'delete-version') await this.#using.objects.delete({ bucket, key, versionId }, {}, EXPIRES);
      else
        await this.#using.objects.delete(
          { bucket, key },
          { ifMatch: [etag], ifMatchModifiedAtMs: modifiedAtMs },
          EXPIRES,
        );
      return 1;
    } catch (error) {
      if (isAppError(error) && error.status < 500) return 0;
      throw error;
    }
  }

  async #abortByRules(
    bucket: BucketRecord,
    document: LifecycleDocument,
    report: LifecycleReport,
    signal: AbortSignal,
  ): Promise<void> {
    const { multipart, deps } = this.#using;
    for (const rule of document.rules) {
      const days = rule.abortIncompleteMultipartUpload?.days;
      if (!rule.enabled || days === undefined) continue;
      const { prefix } = rule.filter;
      for (let [afterKey, afterUploadId] = ['', '']; !signal.aborted;) {
        const page = await multipart.listUploads(bucket, {
          prefix,
          delimiter: '',
          afterKey,
          afterUploadId,
          limit: BATCH,
        });
        for (const { key, uploadId, initiatedAtMs } of page.uploads) {
          if (dueAfter(initiatedAtMs, days, this.#day) > deps.clock.nowMs()) continue;
          report.aborted += await this.#abort({ bucketId: bucket.id, key, uploadId });
        }
        if (!page.truncated) break;
        [afterKey, afterUploadId] = [page.nextKey ?? '', page.nextUploadId ?? ''];
      }
    }
  }

  async #abortAbandoned(report: LifecycleReport, signal: AbortSignal): Promise<void> {
    const { metadata, clock } = this.#using.deps;
    const beforeMs = clock.nowMs() - ABANDONED_UPLOAD_DAYS * this.#day.lengthMs;
    const ruled = new Map<number, boolean>();
    for (let after = { initiatedAtMs: -1, uploadId: '' }; !signal.aborted;) {
      const uploads = await metadata.uploadsBefore({ beforeMs, after, limit: BATCH });
      for (const upload of uploads) {
        const known = ruled.get(upload.bucketId) ?? (await this.#hasAbortRule(upload.bucketId));
        ruled.set(upload.bucketId, known);
        if (!known) report.aborted += await this.#abort(upload);
        after = upload;
      }
      if (uploads.length < BATCH || !(await this.#lease.keep())) return;
      ruled.clear();
    }
  }

  /** Buckets with their own abort rule are left to it. */
  async #hasAbortRule(bucketId: number): Promise<boolean> {
    const { lifecycle } = await this.#using.deps.metadata.bucketDocuments({ bucketId });
    if (lifecycle === undefined) return false;
    const { rules } = parseLifecycleDocument(lifecycle);
    return rules.some((rule) => rule.enabled && rule.abortIncompleteMultipartUpload !== null);
  }

  async #abort({ bucketId, key, uploadId }: { bucketId: number; key: string; uploadId: string }): Promise<number> {
    const { metadata, clock, config } = this.#using.deps;
    try {
      const trashDueAtMs = clock.nowMs() + config.trash_grace_seconds * 1_000;
      await metadata.abortUpload({ bucketId, key, uploadId, trashDueAtMs });
      return 1;
    } catch (error) {
      if (isAppError(error) && error.status < 500) return 0; // completed or aborted in the meantime
      throw error;
    }
  }

  async #savePosition(value: string): Promise<void> {
    const { metadata } = this.#using.deps;
    if (value === '' && ((await metadata.storeProperty({ name: POSITION })) ?? '') === '') return;
    await metadata.setStoreProperty({ name: POSITION, value });
  }
}

interface Scan {
  bucket: BucketRecord;
  document: LifecycleDocument;
  prefix: string;
  afterKey: string;
}

function parsePosition(stored: string | null): Position | null {
  return stored === null || stored === '' ? null : (JSON.parse(stored) as Position); // written above
}
