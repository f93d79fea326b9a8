import { hash } from 'node:crypto';
import { uriEncode } from './uri-encode.ts';

/** The only algorithm of this package: HMAC-SHA256. */
export const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The payload hash of a request whose signature does not cover its body. */
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD';

/** SHA-256 of no bytes, in hexadecimal. */
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** A query parameter, decoded. */
export interface QueryParameter {
  name: string;
  value: string;
}

/** The values of each header, in the order they were sent. */
export interface HeaderValues {
  /** `name` is in lower case. */
  all(name: string): readonly string[];
}

/** What a signature covers. */
export interface CanonicalFields {
  method: string;
  /** Encoded as sent. */
  path: string;
  parameters: readonly QueryParameter[];
  headers: HeaderValues;
  /** Lower-case names in alphabetical order. */
  signedHeaders: readonly string[];
  payloadHash: string;
}

/** Task 1 of Signature Version 4: the canonical request. */
export function canonicalRequest(fields: CanonicalFields): string {
  const headers = fields.signedHeaders.map((name) => `${name}:${canonicalValue(fields.headers.all(name))}\n`).join('');
  return [
    fields.method,
    fields.path,
    canonicalQuery(fields.parameters),
    headers,
    fields.signedHeaders.join(';'),
    fields.payloadHash,
  ].join('\n');
}

/** Task 2 of Signature Version 4: the string to sign. Text is hashed as UTF-8. */
export function stringToSign(amzDate: string, scope: string, canonical: string | Uint8Array): string {
  return `${ALGORITHM}\n${amzDate}\n${scope}\n${hash('sha256', canonical)}`;
}

/** When and for what a signature is made. */
interface SigningScope {
  amzDate: string;
  scope: string;
}

/**
 * The string to sign of one chunk of an `aws-chunked` body. `previous` is the signature of the chunk before; the first
 * chunk follows the request's signature.
 */
export function chunkStringToSign({ amzDate, scope }: SigningScope, previous: string, chunkSha256: string): string {
  return `${ALGORITHM}-PAYLOAD\n${amzDate}\n${scope}\n${previous}\n${EMPTY_SHA256}\n${chunkSha256}`;
}

/** The string to sign of the trailer after the last chunk. */
export function trailerStringToSign({ amzDate, scope }: SigningScope, previous: string, trailerSha256: string): string {
  return `${ALGORITHM}-TRAILER\n${amzDate}\n${scope}\n${previous}\n${trailerSha256}`;
}

/** Encodes parameters and sorts them in byte order. A request may use the result as its query. */
export function canonicalQuery(parameters: readonly QueryParameter[]): string {
  if (parameters.length === 0) return '';
  return parameters
    .map(({ name, value }) => [uriEncode(name), uriEncode(value)] as const)
    .toSorted(([leftName, leftValue], [rightName, rightValue]) =>
      leftName === rightName ? compare(leftValue, rightValue) : compare(leftName, rightName),
    )
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** Converts an object of unencoded parameters. */
export function toQueryParameters(query: Readonly<Record<string, string>>): QueryParameter[] {
  return Object.entries(query).map(([name, value]) => ({ name, value }));
}

/** Encoded text is ASCII, so comparing code units compares bytes. */
function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function canonicalValue(values: readonly string[]): string {
  return values.map((value) => value.trim().replace(/ {2,}/g, ' ')).join(',');
}
