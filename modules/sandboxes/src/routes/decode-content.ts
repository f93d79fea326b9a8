import { sandboxErrors } from '../errors.ts';

/**
 * Decodes the content of a JSON body. Base64 (RFC 4648 section 4) must be canonical: a lenient decoder could write a
 * file that the client did not intend.
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
