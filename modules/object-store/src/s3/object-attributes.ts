import { assertMediaType } from '../domain/content/media-type.ts';
import { parseTagQuery } from '../domain/tags.ts';
import { storeErrors } from '../errors.ts';
import type { ObjectAttributes } from '../domain/ports/records.ts';
import type { RequestHeaders } from './request-headers.ts';

const METADATA_PREFIX = 'x-amz-meta-';
const KEPT_HEADERS = ['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'expires'];
const DEFAULT_CONTENT_TYPE = 'binary/octet-stream';
const MAX_KEPT_BYTES = 8_192;

const STORAGE_CLASSES: ReadonlySet<string> = new Set([
  'STANDARD',
  'REDUCED_REDUNDANCY',
  'STANDARD_IA',
  'ONEZONE_IA',
  'INTELLIGENT_TIERING',
  'GLACIER',
  'DEEP_ARCHIVE',
  'GLACIER_IR',
]);

/** Reads the attributes to store with an object. Header bytes are kept as sent, whatever their encoding. */
export function readAttributes(headers: RequestHeaders, metadataLimitBytes: number): ObjectAttributes {
  const kept: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = name === 'content-encoding' ? contentEncoding(headers) : headers.get(name);
    if (value !== undefined && value !== '') kept[name] = value;
  }
  if (JSON.stringify(kept).length > MAX_KEPT_BYTES) throw storeErrors.MetadataTooLarge();
  const metadata = readMetadata(headers, metadataLimitBytes);
  const storageClass = headers.get('x-amz-storage-class');
  if (storageClass !== undefined && !STORAGE_CLASSES.has(storageClass)) throw storeErrors.InvalidStorageClass();
  const contentType = headers.get('content-type') ?? '';
  if (contentType !== '') assertMediaType(contentType, 'Content-Type');
  const tags = parseTagQuery(headers.get('x-amz-tagging') ?? '');
  return {
    contentType: contentType === '' ? DEFAULT_CONTENT_TYPE : contentType,
    ...(Object.keys(kept).length === 0 ? {} : { headers: kept }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    ...(storageClass === undefined || storageClass === 'STANDARD' ? {} : { storageClass }),
    ...redirectLocation(headers),
  };
}

/** Where a website redirects requests for this object. */
function redirectLocation(headers: RequestHeaders): Pick<ObjectAttributes, 'websiteRedirectLocation'> {
  const location = headers.get('x-amz-website-redirect-location');
  if (location === undefined) return {};
  if (!/^(\/|https?:\/\/)/.test(location)) {
    throw invalidLocation("must have a prefix of 'http://' or 'https://' or '/'.");
  }
  if (location.length > 2_048) throw invalidLocation('is longer than 2048 bytes.');
  return { websiteRedirectLocation: location };
}

function invalidLocation(reason: string): Error {
  return storeErrors.InvalidRedirectLocation({ details: { reason: `The website redirect location ${reason}` } });
}

function readMetadata(headers: RequestHeaders, limitBytes: number): Record<string, string> {
  const metadata = new Map<string, string>(); // a client may call one __proto__
  let bytes = 0;
  for (const name of headers.names()) {
    if (!name.startsWith(METADATA_PREFIX)) continue;
    const value = headers.get(name) ?? '';
    metadata.set(name.slice(METADATA_PREFIX.length), value);
    bytes += name.length - METADATA_PREFIX.length + value.length; // one header character is one byte
  }
  if (bytes > limitBytes) throw storeErrors.MetadataTooLarge({ details: { maxSizeAllowed: limitBytes } });
  return Object.fromEntries(metadata);
}

/** `aws-chunked` describes the transfer, not the object. */
function contentEncoding(headers: RequestHeaders): string | undefined {
  const codings = (headers.get('content-encoding') ?? '').split(',').map((coding) => coding.trim());
  return codings.filter((coding) => coding !== '' && coding.toLowerCase() !== 'aws-chunked').join(', ');
}
