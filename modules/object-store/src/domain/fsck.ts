import { isDeepStrictEqual } from 'node:util';
import type { BlobEntry } from './ports/blob-store.ts';
import type { UsageDrift } from './ports/blobs.ts';
import type { StoreDeps } from './store-deps.ts';

export interface FsckReport {
  blobsNeeded: number;
  blobsFound: number;
  /** Needed by a row but missing: lost data. At most `maxFindings` of each kind are listed. */
  missing: readonly string[];
  /** Present, but not with the length in the row. */
  wrongSize: readonly string[];
  /** Needed by a row, but quarantined by a scrub because its bytes had changed. */
  quarantined: readonly string[];
  /** Present but unknown to any row: wasted space, not damage. The sweep removes it. */
  unknown: readonly string[];
  /** Like `unknown`, but so recent that a write may still be finishing. */
  unsettled: number;
  usageDrift: readonly UsageDrift[];
  clean: boolean;
}

export interface FsckOptions {
  maxFindings?: number;
  /** Blobs younger than this that no row knows count as unsettled, for a store in use. Defaults to 0. */
  settleMs?: number;
}

type FsckDeps = Pick<StoreDeps, 'metadata' | 'blobs' | 'clock'>;

const BATCH = 1_000;

/**
 * Verifies that blobs and rows agree in both directions, and that counters are correct. Read-only, in bounded memory.
 */
export async function fsck(deps: FsckDeps, options: FsckOptions = {}): Promise<FsckReport> {
  const found = await checkBlobs(deps, options);
  const needed = await checkRows(deps, options.maxFindings ?? 1_000);
  const usageDrift = await findDrift(deps.metadata);
  const lists = [found.unknown, needed.missing, needed.wrongSize, needed.quarantined, usageDrift];
  return { ...found, ...needed, usageDrift, clean: lists.every((list) => list.length === 0) };
}

/** Every stored blob must be known to a row. */
async function checkBlobs({ metadata, blobs, clock }: FsckDeps, { maxFindings = 1_000, settleMs = 0 }: FsckOptions) {
  const report = { blobsFound: 0, unknown: [] as string[], unsettled: 0 };
  const isSettled = ({ modifiedAtMs }: BlobEntry) => settleMs === 0 || modifiedAtMs < clock.nowMs() - settleMs;
  for await (const blob of blobs.list()) {
    report.blobsFound += 1;
    if (await metadata.isBlobKnown({ blobId: blob.id })) continue;
    if (!isSettled(blob)) report.unsettled += 1;
    else if (report.unknown.length < maxFindings) report.unknown.push(blob.id);
  }
  return report;
}

/** Every blob that a row needs must be present in full. */
async function checkRows({ metadata, blobs }: FsckDeps, maxFindings: number) {
  const report = {
    blobsNeeded: 0,
    missing: [] as string[],
    wrongSize: [] as string[],
    quarantined: [] as string[],
  };
  for (let after = ''; ;) {
    const rows = await metadata.neededBlobs({ after, limit: BATCH });
    for (const { blobId, storedBytes } of rows) {
      report.blobsNeeded += 1;
      const found = await blobs.size(blobId);
      if (found === storedBytes) continue;
      let list = found === null ? report.missing : report.wrongSize;
      if ((await metadata.findBlob({ blobId }))?.state === 'damaged') list = report.quarantined;
      // Skip rows that were deleted after the page was read.
      if (list.length < maxFindings && (await metadata.isContentNeeded({ kind: 'blob', contentId: blobId }))) {
        list.push(blobId);
      }
    }
    const last = rows.at(-1);
    if (last === undefined) return report;
    after = last.blobId;
  }
}

async function findDrift(metadata: FsckDeps['metadata']): Promise<readonly UsageDrift[]> {
  const found: UsageDrift[] = [];
  for (let after = -1; ;) {
    const rows = await metadata.usageDrift({ after, limit: BATCH });
    for (const row of rows) {
      if (!isDeepStrictEqual(row.counted, row.actual)) found.push(row);
    }
    const last = rows.at(-1);
    if (last === undefined) return found;
    after = last.bucketId;
  }
}
