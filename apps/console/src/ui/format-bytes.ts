import { splitBytes } from './format-number.ts';

/** Formats a size, such as `1.4 GiB`. */
export function formatBytes(sizeBytes: number): string {
  return splitBytes(sizeBytes).join(' ');
}

/** Formats a size for a field; parses back to the same value, so it is never rounded. */
export function writeBytes(sizeBytes: number): string {
  const text = formatBytes(sizeBytes);
  return parseBytes(text) === sizeBytes ? text : String(sizeBytes);
}

const FACTORS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ['k', 1024],
  ['m', 1024 ** 2],
  ['g', 1024 ** 3],
  ['t', 1024 ** 4],
]);

/** Parses a size such as `10 GiB`, `500m` or `1024`; null if invalid. */
export function parseBytes(text: string): number | null {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?\s*$/i.exec(text);
  const factor = FACTORS.get(match?.[2]?.toLowerCase() ?? '');
  if (match?.[1] === undefined || factor === undefined) return null;
  const sizeBytes = Math.round(Number(match[1]) * factor);
  return Number.isSafeInteger(sizeBytes) ? sizeBytes : null;
}
