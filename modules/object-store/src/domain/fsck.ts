import { isDeepStrictEqual } from 'node:util';
import type { BlobEntry } from './ports/blob-store.ts';
import type { UsageDrift } from './ports/metadata-store.ts';
import type { StoreParts } from './store-parts.ts';

export interface FsckReport {
  blobsNeeded: number;
  blobsFound: number;
  /** Needed by a row, but not there: data that is lost. At most `maxFindings` of each kind are listed. */
  missing: readonly string[];
  /** There with another length than its row says. */
  wrongSize: readonly string[];
  /** Needed by a row, but set aside by a scrub because its bytes were not those that were written. */
  quarantined: readonly string[];
  /** There, but known to no row: space, not damage; the sweep removes it. */
  unknown: readonly string[];
  /** As `unknown`, but so young that a write may just be ending. */
  unsettled: number;
  usageDrift: readonly UsageDrift[];
  clean: boolean;
}

export interface FsckOptions {
  maxFindings?: number;
  /** A blob that no row knows counts as unsettled until it is this old: for a store that is being written. 0. */
  settleMs?: number;
}

type FsckParts = Pick<StoreParts, 'metadata' | 'blobs' | 'now'>;

const BATCH = 1_000;

/** Proves that blobs and rows agree, both ways, and that counters are what they count. Reads only, in bounded memory. */
export async function fsck(parts: FsckParts, options: FsckOptions = {}): Promise<FsckReport> {
  const found = await checkBlobs(parts, options);
  const needed = await checkRows(parts, options.maxFindings ?? 1_000);
  const usageDrift = await findDrift(parts.metadata);
  const lists = [found.unknown, needed.missing, needed.wrongSize, needed.quarantined, usageDrift];
  return { ...found, ...needed, usageDrift, clean: lists.every((list) => list.length === 0) };
}

/** Each blob that is there is known to a row. */
async function checkBlobs({ metadata, blobs, now }: FsckParts, { maxFindings = 1_000, settleMs = 0 }: FsckOptions) {
  const report = { blobsFound: 0, unknown: [] as string[], unsettled: 0 };
  const isSettled = ({ modifiedAtMs }: BlobEntry) => settleMs === 0 || modifiedAtMs < now() - settleMs;
  for await (const blob of blobs.list()) {
    report.blobsFound += 1;
    if (await metadata.isBlobKnown({ blobId: blob.id })) continue;
    if (!isSettled(blob)) report.unsettled += 1;
    else if (report.unknown.length < maxFindings) report.unknown.push(blob.id);
  }
  return report;
}

/** Each blob that a row needs is there, whole. */
async function checkRows({ metadata, blobs }: FsckParts, maxFindings: number) {
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
      // Deleted since the page was read, it is needed no more.
      if (list.length < maxFindings && (await metadata.isContentNeeded({ kind: 'blob', contentId: blobId }))) {
        list.push(blobId);
      }
    }
    const last = rows.at(-1);
    if (last === undefined) return report;
    after = last.blobId;
  }
}

async function findDrift(metadata: FsckParts['metadata']): Promise<readonly UsageDrift[]> {
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
