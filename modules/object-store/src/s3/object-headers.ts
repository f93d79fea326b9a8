import type { OutgoingHttpHeaders } from 'node:http';
import { checksumHeaderName } from '../domain/checksums/algorithms.ts';
import { toHttpDate } from '../domain/http-date.ts';
import { objectLockHeaders } from './object-lock-headers.ts';
import type { BucketRecord, ObjectChecksum, ObjectVersion } from '../domain/ports/records.ts';

/** The headers that GET and HEAD share, except the length. */
export function objectHeaders(version: ObjectVersion, bucket: BucketRecord): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'accept-ranges': 'bytes',
    etag: `"${version.etag}"`,
    'last-modified': toHttpDate(version.modifiedAtMs),
    'content-type': version.attributes.contentType,
    ...version.attributes.headers,
    ...versionHeaders(bucket, version.versionId),
    ...objectLockHeaders(version.attributes),
  };
  for (const [name, value] of Object.entries(version.attributes.metadata ?? {})) headers[`x-amz-meta-${name}`] = value;
  const tagCount = Object.keys(version.attributes.tags ?? {}).length;
  if (tagCount > 0) headers['x-amz-tagging-count'] = tagCount;
  if (version.attributes.storageClass !== undefined) headers['x-amz-storage-class'] = version.attributes.storageClass;
  const { websiteRedirectLocation } = version.attributes;
  if (websiteRedirectLocation !== undefined) headers['x-amz-website-redirect-location'] = websiteRedirectLocation;
  return headers;
}

/** Only buckets that have or had versioning enabled return version ids. */
export function versionHeaders(bucket: BucketRecord, versionId: string): OutgoingHttpHeaders {
  return bucket.versioning === 'unversioned' ? {} : { 'x-amz-version-id': versionId };
}

/** Headers for a version just written. With versioning suspended, it has no id of its own. */
export function newVersionHeaders(versionId: string): OutgoingHttpHeaders {
  return versionId === 'null' ? {} : { 'x-amz-version-id': versionId };
}

export function checksumHeaders(checksum: ObjectChecksum | null): OutgoingHttpHeaders {
  if (checksum === null) return {};
  return { [checksumHeaderName(checksum.algorithm)]: checksum.value, 'x-amz-checksum-type': checksum.type };
}

/** The same as elements of a response document. */
export function checksumElements(checksum: ObjectChecksum | null): Record<string, string> {
  if (checksum === null) return {};
  return { [`Checksum${checksum.algorithm}`]: checksum.value, ChecksumType: checksum.type };
}
