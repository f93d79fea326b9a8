import type { UsageDrift } from '../ports/metadata-store.ts';
import type { StoreParts } from './store-parts.ts';

export interface FsckReport {
  blobsNeeded: number;
  blobsFound: number;
  /** Needed by a row, but not there: data that is lost. At most `maxFindings` of each kind are listed. */
  missing: readonly string[];
  /** There with another length than its row says. */
  wrongSize: readonly string[];
  /** There, but known to no row: space, not damage. A write that is just ending shows here too. */
  unknown: readonly string[];
  usageDrift: readonly UsageDrift[];
  clean: boolean;
}

const BATCH = 1_000;

/** Proves that blobs and rows agree, both ways, and that counters are what they count. Reads only, in bounded memory. */
export async function fsck(
  { metadata, blobs }: Pick<StoreParts, 'metadata' | 'blobs'>,
  options: { maxFindings?: number } = {},
): Promise<FsckReport> {
  const maxFindings = options.maxFindings ?? 1_000;
  const report = { blobsNeeded: 0, blobsFound: 0, missing: [] as string[], wrongSize: [] as string[] };
  const unknown: string[] = [];
  for await (const blob of blobs.list()) {
    report.blobsFound += 1;
    if (unknown.length < maxFindings && !(await metadata.isBlobKnown({ blobId: blob.id }))) unknown.push(blob.id);
  }
  for (let after = ''; ;) {
    const rows = await metadata.neededBlobs({ after, limit: BATCH });
    for (const { blobId, storedBytes } of rows) {
      report.blobsNeeded += 1;
      const found = await blobs.size(blobId);
      if (found === null && report.missing.length < maxFindings) report.missing.push(blobId);
      if (found !== null && found !== storedBytes && report.wrongSize.length < maxFindings)
        report.wrongSize.push(blobId);
    }
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.blobId;
  }
  const usageDrift = await findDrift(metadata);
  const findings = report.missing.length + report.wrongSize.length + unknown.length + usageDrift.length;
  return { ...report, unknown, usageDrift, clean: findings === 0 };
}

async function findDrift(metadata: StoreParts['metadata']): Promise<readonly UsageDrift[]> {
  const found: UsageDrift[] = [];
  for (let after = -1; ;) {
    const rows = await metadata.usageDrift({ after, limit: BATCH });
    for (const row of rows) {
      const same = row.counted.objectCount === row.actual.objectCount && row.counted.sizeBytes === row.actual.sizeBytes;
      if (!same) found.push(row);
    }
    const last = rows.at(-1);
    if (last === undefined) return found;
    after = last.bucketId;
  }
}
