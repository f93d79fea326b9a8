import { assertObjectKey } from '../../domain/object-key.ts';
import { storeErrors } from '../../errors.ts';
import { RequestHeaders } from '../request-headers.ts';
import type { S3Request } from '../s3-request.ts';
import type { FormFields } from './form-reader.ts';

/** Form fields that map to a header. The other ones begin with `x-amz-`. */
const HEADER_OF_FIELD: ReadonlyMap<string, string> = new Map([
  ['acl', 'x-amz-acl'],
  ['cache-control', 'cache-control'],
  ['content-disposition', 'content-disposition'],
  ['content-encoding', 'content-encoding'],
  ['content-language', 'content-language'],
  ['content-md5', 'content-md5'],
  ['content-type', 'content-type'],
  ['expires', 'expires'],
]);
const OF_THE_SIGNATURE = /^x-amz-(algorithm|credential|date|signature)$/;
/** Headers kept from the request itself. */
const KEPT_HEADERS = ['host', 'user-agent', 'referer', 'origin'];

/** Replaces `${filename}` in fields with the file's name. Policies apply to the result. */
export function withFileName({ fields, fileName }: FormFields): ReadonlyMap<string, string> {
  return new Map([...fields].map(([name, value]) => [name, value.replaceAll('${filename}', () => fileName)]));
}

/** The PUT that the form is equivalent to. */
export function toPutRequest(
  request: S3Request,
  fields: ReadonlyMap<string, string>,
  sizeBytes: number,
): S3Request & { key: string } {
  const key = fields.get('key');
  if (key === undefined || key === '') {
    const reason = "Bucket POST must contain a field named 'key'.";
    throw storeErrors.InvalidArgument({ details: { reason, field: 'key' } });
  }
  assertObjectKey(key);
  const headers: string[] = ['content-length', String(sizeBytes)];
  for (const header of KEPT_HEADERS) {
    for (const value of request.headers.all(header)) headers.push(header, value);
  }
  for (const [field, value] of fields) {
    const header = HEADER_OF_FIELD.get(field) ?? (field.startsWith('x-amz-') ? field : undefined);
    if (header === undefined || OF_THE_SIGNATURE.test(field)) continue;
    if (/[\r\n\0]/.test(value))
      throw storeErrors.InvalidArgument({ details: { reason: 'A field is malformed', field } });
    headers.push(header, Buffer.from(value).toString('latin1')); // as raw header bytes
  }
  return { ...request, key, headers: new RequestHeaders(headers) };
}

/** Reads the boundary from `Content-Type: multipart/form-data; boundary=…`. RFC 2046 allows 1 to 70 characters. */
export function parseBoundary(contentType: string | undefined): string {
  const found = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;",]{1,70}))/i.exec(
    contentType ?? '',
  );
  const boundary = found?.[1] ?? found?.[2];
  if (boundary !== undefined) return boundary;
  if (/^multipart\/form-data\s*(;|$)/i.test(contentType ?? '')) throw storeErrors.MalformedPOSTRequest();
  throw storeErrors.PreconditionFailed({
    details: { condition: 'Bucket POST must be of the enclosure-type multipart/form-data' },
  });
}
