const MiB = 1024 * 1024;
export const DEFAULT_PART_BYTES = 16 * MiB;
export const MIN_PART_BYTES = 5 * MiB;
const MOST_PARTS = 10_000;

export interface PlannedPart {
  partNumber: number;
  start: number;
  endExclusive: number;
}

/** Returns the requested part size, or the next whole MiB for which 10,000 parts suffice. */
export function partSizeFor(sizeBytes: number, wishedBytes = DEFAULT_PART_BYTES): number {
  const needed = Math.ceil(Math.ceil(sizeBytes / MOST_PARTS) / MiB) * MiB;
  return Math.max(wishedBytes, needed, MIN_PART_BYTES);
}

/** Plans consecutive parts of these sizes; null if they don't add up to the object's size. */
export function partsOfSizes(sizes: readonly number[], sizeBytes: number): PlannedPart[] | null {
  let start = 0;
  const parts = sizes.map((partBytes, index) => {
    const part = { partNumber: index + 1, start, endExclusive: start + partBytes };
    start += partBytes;
    return part;
  });
  return parts.length > 0 && start === sizeBytes && sizes.every((partBytes) => partBytes > 0) ? parts : null;
}

export function planParts(sizeBytes: number, partSizeBytes: number): PlannedPart[] {
  return Array.from({ length: Math.max(1, Math.ceil(sizeBytes / partSizeBytes)) }, (_, index) => ({
    partNumber: index + 1,
    start: index * partSizeBytes,
    endExclusive: Math.min(sizeBytes, (index + 1) * partSizeBytes),
  }));
}
