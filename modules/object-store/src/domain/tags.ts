import { storeErrors } from '../errors.ts';

export type Tags = Readonly<Record<string, string>>;

/** At most 10 tags per object and 50 per bucket (API reference, PutObjectTagging and PutBucketTagging). */
export const MAX_OBJECT_TAGS = 10;
export const MAX_BUCKET_TAGS = 50;
const MAX_KEY_LENGTH = 128;
const MAX_VALUE_LENGTH = 256;

/** Letters, digits and spaces of any script, and these characters, as at AWS. */
const ALLOWED = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

/** Throws `InvalidTag` or `BadRequest` for too many tags, a repeated key, or invalid text. */
export function assertTags(pairs: readonly (readonly [key: string, value: string])[], limit: number): Tags {
  if (pairs.length > limit) {
    if (limit === MAX_OBJECT_TAGS) throw invalid(`Object tags cannot be greater than ${limit}`);
    throw storeErrors.BadRequest({ details: { reason: `Bucket tag count cannot be greater than ${limit}` } });
  }
  const tags = new Map<string, string>();
  for (const [key, value] of pairs) {
    if (key === '' || [...key].length > MAX_KEY_LENGTH || !ALLOWED.test(key)) {
      throw invalid('The TagKey you have provided is invalid');
    }
    if ([...value].length > MAX_VALUE_LENGTH || !ALLOWED.test(value)) {
      throw invalid('The TagValue you have provided is invalid');
    }
    if (key.toLowerCase().startsWith('aws:')) throw invalid('System tags cannot be added/updated by requester');
    if (tags.has(key)) throw invalid('Cannot provide multiple Tags with the same key');
    tags.set(key, value);
  }
  return Object.fromEntries(tags);
}

/** Parses the query-string form of the header `x-amz-tagging`. */
export function parseTagQuery(text: string): Tags {
  const pieces = text.split('&').filter((piece) => piece !== '');
  const pairs = pieces.map((piece): readonly [string, string] => {
    const at = piece.indexOf('=');
    return at === -1 ? [decode(piece), ''] : [decode(piece.slice(0, at)), decode(piece.slice(at + 1))];
  });
  const keys = pairs.map(([key]) => key);
  if (keys.includes('') || new Set(keys).size !== keys.length) throw malformedHeader();
  return assertTags(pairs, MAX_OBJECT_TAGS);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw malformedHeader();
  }
}

function malformedHeader(): Error {
  const reason =
    "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.";
  return storeErrors.InvalidArgument({ details: { reason, argumentName: 'x-amz-tagging' } });
}

function invalid(reason: string): Error {
  return storeErrors.InvalidTag({ details: { reason } });
}
