import { isBucketName } from '../domain/bucket-name.ts';
import { assertObjectKey } from '../domain/object-key.ts';
import { storeErrors } from '../errors.ts';
import { assertVersionId } from './query.ts';
import type { RequestHeaders } from './request-headers.ts';

/** The source that a copy request names. */
export interface CopySource {
  bucketName: string;
  key: string;
  versionId?: string;
}

/**
 * Parses `x-amz-copy-source`: `/bucket/key` or `bucket/key`, percent-encoded, with an optional unencoded `?versionId=`.
 */
export function readCopySource(headers: RequestHeaders): CopySource {
  return parseCopySource(headers.get('x-amz-copy-source') ?? '');
}

/** The same for the text of the header. */
export function parseCopySource(header: string): CopySource {
  // Header bytes are UTF-8 if the client did not encode them.
  const raw = Buffer.from(header, 'latin1').toString();
  const [path = '', versionId] = splitVersion(raw);
  const decoded = decode(path).replace(/^\//, '');
  const slash = decoded.indexOf('/');
  if (slash < 1) {
    throw invalid('Copy Source must mention the source bucket and key: sourcebucket/sourcekey');
  }
  const [bucketName, key] = [decoded.slice(0, slash), decoded.slice(slash + 1)];
  if (!isBucketName(bucketName)) throw invalid('Invalid copy source bucket name');
  if (key === '') throw invalid('Invalid copy source object key');
  assertObjectKey(key);
  if (versionId !== undefined) assertVersionId(versionId);
  return { bucketName, key, ...(versionId === undefined ? {} : { versionId }) };
}

function splitVersion(raw: string): readonly string[] {
  const at = raw.lastIndexOf('?versionId=');
  return at === -1 ? [raw] : [raw.slice(0, at), raw.slice(at + '?versionId='.length)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid('Invalid copy source encoding');
  }
}

function invalid(reason: string): Error {
  return storeErrors.InvalidArgument({ details: { reason, argumentName: 'x-amz-copy-source' } });
}
