import type { IncomingHttpHeaders } from 'node:http';
import { sandboxErrors } from '../../errors.ts';

/** Where clients and programs in the sandbox keep the metadata of a file, as extended attributes. */
export const METADATA_PREFIX = 'user.e2b.';
const HEADER = 'x-metadata-';
/** The longest name of an attribute. */
const MAX_NAME_BYTES = 255;
const MAX_TOTAL_BYTES = 4096;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** The attributes of an uploaded file, from the headers of its request. Throws INVALID_FIELD. */
export function parseMetadata(headers: IncomingHttpHeaders): Record<string, string> {
  const attributes: Record<string, string> = {};
  let totalBytes = 0;
  for (const [header, value] of Object.entries(headers)) {
    if (!header.startsWith(HEADER)) continue;
    const name = `${METADATA_PREFIX}${header.slice(HEADER.length)}`;
    const text = (Array.isArray(value) ? value[0] : value) ?? '';
    if (!PRINTABLE.test(name) || !PRINTABLE.test(text)) throw invalid(header, 'is not printable ASCII');
    totalBytes += name.length + text.length;
    if (name.length > MAX_NAME_BYTES || name === METADATA_PREFIX)
      throw invalid(header, 'has no name of 1 to 246 bytes');
    if (totalBytes > MAX_TOTAL_BYTES) throw invalid(header, `is beyond ${MAX_TOTAL_BYTES} bytes of metadata`);
    attributes[name] = text;
  }
  return attributes;
}

/** The metadata among the attributes of a file, by the names that clients use. */
export function toMetadataView(attributes: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(attributes).filter(([name]) => name.startsWith(METADATA_PREFIX));
  return Object.fromEntries(entries.map(([name, value]) => [name.slice(METADATA_PREFIX.length), value]));
}

function invalid(header: string, reason: string): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field: header.slice(0, 100), reason } });
}
