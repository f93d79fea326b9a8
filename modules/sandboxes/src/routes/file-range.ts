import { sandboxErrors } from '../errors.ts';

/**
 * Parses one range, RFC 9110 section 14.1.2. Returns null without a range and for headers to ignore: another unit,
 * several ranges, invalid syntax. Throws `RANGE_NOT_SATISFIABLE`.
 */
export function parseRange(header: string | undefined, sizeBytes: number): { offset: number; length: number } | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return null;
  const [, first = '', last = ''] = match;
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes);
    if (length === 0) throw outside(sizeBytes);
    return { offset: sizeBytes - length, length };
  }
  const offset = Number(first);
  if (last !== '' && Number(last) < offset) return null;
  if (offset >= sizeBytes) throw outside(sizeBytes);
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  return { offset, length: end - offset + 1 };
}

function outside(sizeBytes: number): Error {
  return sandboxErrors.RANGE_NOT_SATISFIABLE({ headers: { 'content-range': `bytes */${sizeBytes}` } });
}
