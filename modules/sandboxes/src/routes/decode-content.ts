import { sandboxErrors } from '../errors.ts';

/**
 * The bytes of a JSON body's content. Base64 (RFC 4648 section 4) has to be canonical: what a decoder would have to guess
 * is refused, since a guess writes a file that nobody meant.
 */
export function decodeContent(content: string, encoding: 'base64' | 'utf-8'): Buffer {
  if (encoding === 'utf-8') {
    if (!content.isWellFormed()) throw invalid('holds half of a surrogate pair, which no UTF-8 can say');
    return Buffer.from(content, 'utf8');
  }
  const bytes = Buffer.from(content, 'base64');
  if (bytes.toString('base64') !== content) {
    throw invalid('is not canonical base64; for text send "encoding": "utf-8"');
  }
  return bytes;
}

function invalid(reason: string): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field: 'content', reason } });
}
