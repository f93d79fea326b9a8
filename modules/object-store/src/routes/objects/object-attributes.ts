import type { BucketAccess } from '../../domain/access/bucket-access.ts';
import { visibilityAttributes } from '../../domain/access/object-acl.ts';
import { assertMediaType } from '../../domain/content/media-type.ts';
import { storeErrors } from '../../errors.ts';
import type { BucketRecord, ObjectAttributes } from '../../domain/ports/records.ts';

const DEFAULT_CONTENT_TYPE = 'application/octet-stream';

/** Attributes of an object in JSON bodies and forms. */
export interface DescribedObject {
  content_type?: string | undefined;
  cache_control?: string | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
  public?: boolean | undefined;
}

/** Converts attributes to what the S3 plane would store: header bytes, with text beyond ASCII in UTF-8. */
export function describedAttributes(
  described: DescribedObject,
  limitBytes: number,
  { bucket, access, mayPublish }: { bucket: BucketRecord; access: BucketAccess; mayPublish: boolean },
): ObjectAttributes {
  if (described.content_type !== undefined) assertMediaType(described.content_type, 'content_type');
  const metadata = new Map<string, string>(); // a client may call one __proto__
  let bytes = 0;
  for (const [name, value] of Object.entries(described.metadata ?? {})) {
    if (/[\r\n\0]/.test(value)) throw invalidMetadata('a value contains a line break');
    const kept = Buffer.from(value).toString('latin1');
    metadata.set(name.toLowerCase(), kept);
    bytes += name.length + kept.length;
  }
  if (bytes > limitBytes)
    throw storeErrors.MetadataTooLarge({ details: { field: 'metadata', maxSizeAllowed: limitBytes } });
  return {
    contentType: described.content_type ?? DEFAULT_CONTENT_TYPE,
    ...(described.cache_control === undefined ? {} : { headers: { 'cache-control': described.cache_control } }),
    ...(bytes === 0 ? {} : { metadata: Object.fromEntries(metadata) }),
    ...visibilityAttributes({ isPublic: described.public ?? false, mayPublish }, bucket, access),
  };
}

export function invalidMetadata(reason: string): Error {
  return storeErrors.InvalidArgument({ details: { field: 'metadata', reason } });
}
