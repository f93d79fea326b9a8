import { storeErrors } from '../errors.ts';
import type { ReadRange } from './ports/blob-store.ts';

/**
 * Parses a single-range `Range` header (RFC 9110 section 14.2). Null for the whole object: no header, another unit, a
 * malformed header, or several ranges, which S3 does not support. Throws `InvalidRange` if the range is outside the
 * object.
 */
export function parseByteRange(header: string | undefined, sizeBytes: number): ReadRange | null {
  const parsed = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  if (parsed === null) return null;
  const [, first = '', last = ''] = parsed;
  if (first === '') {
    if (last === '') return null;
    return suffixRange(Number(last), sizeBytes);
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null; // malformed according to the RFC
  if (start >= sizeBytes) throw unsatisfiable(sizeBytes);
  const end = last === '' ? sizeBytes - 1 : Number(last);
  return { start, endExclusive: Math.min(end + 1, sizeBytes) };
}

function suffixRange(lengthBytes: number, sizeBytes: number): ReadRange {
  if (lengthBytes === 0 || sizeBytes === 0) throw unsatisfiable(sizeBytes);
  return { start: Math.max(0, sizeBytes - lengthBytes), endExclusive: sizeBytes };
}

function unsatisfiable(sizeBytes: number): Error {
  return storeErrors.InvalidRange({
    details: { actualObjectSize: sizeBytes },
    headers: { 'content-range': `bytes */${sizeBytes}` },
  });
}
