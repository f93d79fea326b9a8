import { sandboxErrors } from '../../errors.ts';

/** Condition for replacing a file: it is absent, it exists, or it has one of these versions. */
export type FilePrecondition =
  | { readonly absent: true }
  | { readonly present: true }
  | { readonly versions: readonly FileVersion[] };

/** The version that our entity tags encode. */
interface FileVersion {
  readonly inode: number;
  readonly size: number;
  readonly mod_time: string;
}

interface PreconditionHeaders {
  readonly 'if-match'?: string | undefined;
  readonly 'if-none-match'?: string | undefined;
}

const TAG = /^(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/;
const OURS = /^([0-9a-z]{1,13})-([0-9a-z]{1,11})-(\d{23})$/;
const MAX_TAGS = 32;

/**
 * Parses the condition of a write, RFC 9110 sections 13.1.1 and 13.1.2. File tags are weak, because two writes within
 * the clock's resolution could share one. They are still compared by their quoted value, since a strong comparison
 * would never match. Throws INVALID_FIELD with the header's name.
 */
export function parsePrecondition(headers: PreconditionHeaders): FilePrecondition | undefined {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifNoneMatch !== undefined) {
    if (ifNoneMatch.trim() !== '*') throw invalid('If-None-Match', 'must be * for a write');
    if (ifMatch !== undefined) throw invalid('If-None-Match', 'cannot be combined with If-Match');
    return { absent: true };
  }
  if (ifMatch === undefined) return undefined;
  if (ifMatch.trim() === '*') return { present: true };
  const tags = ifMatch.split(',').map((tag) => TAG.exec(tag.trim())?.[1]);
  if (tags.length > MAX_TAGS) throw invalid('If-Match', `names more than ${MAX_TAGS} tags`);
  return { versions: tags.flatMap(parseTag) };
}

/** Returns nothing for a tag that no sandbox file can have. */
function parseTag(tag: string | undefined): FileVersion[] {
  if (tag === undefined) throw invalid('If-Match', 'is neither * nor the ETag of a file, such as W/"1-2-3"');
  const [, inode = '', size = '', time = ''] = OURS.exec(tag) ?? [];
  if (time === '') return [];
  const [year, month, day] = [time.slice(0, 4), time.slice(4, 6), time.slice(6, 8)];
  const [hour, minute, second] = [time.slice(8, 10), time.slice(10, 12), time.slice(12, 14)];
  const modTime = `${year}-${month}-${day}T${hour}:${minute}:${second}.${time.slice(14)}Z`;
  return [{ inode: wholeNumber(inode), size: Number.parseInt(size, 36), mod_time: modTime }];
}

/** `parseInt` loses digits beyond the exact integer range. */
function wholeNumber(digits: string): number {
  let value = 0n;
  for (const digit of digits) value = value * 36n + BigInt(Number.parseInt(digit, 36));
  return Number(value);
}

function invalid(field: string, reason: string): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field, reason } });
}
