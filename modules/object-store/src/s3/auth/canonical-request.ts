import { hash } from 'node:crypto';
import type { QueryParameter } from '../query.ts';
import type { RequestHeaders } from '../request-headers.ts';
import { uriEncode } from './uri-encode.ts';

export interface CanonicalParts {
  method: string;
  path: string;
  parameters: readonly QueryParameter[];
  headers: RequestHeaders;
  /** Lower-case names in alphabetical order. */
  signedHeaders: readonly string[];
  payloadHash: string;
}

/** Task 1 of Signature Version 4: the canonical request. */
export function canonicalRequest(parts: CanonicalParts): string {
  const headers = parts.signedHeaders.map((name) => `${name}:${canonicalValue(parts.headers.all(name))}\n`).join('');
  return [
    parts.method,
    parts.path,
    canonicalQuery(parts.parameters),
    headers,
    parts.signedHeaders.join(';'),
    parts.payloadHash,
  ].join('\n');
}

/** Task 2 of Signature Version 4: the string to sign. Text is hashed as UTF-8. */
export function stringToSign(amzDate: string, scope: string, canonical: string | Uint8Array): string {
  return `AWS4-HMAC-SHA256\n${amzDate}\n${scope}\n${hash('sha256', canonical)}`;
}

function canonicalQuery(parameters: readonly QueryParameter[]): string {
  if (parameters.length === 0) return '';
  return parameters
    .map(({ name, value }) => [uriEncode(name), uriEncode(value)] as const)
    .toSorted(([leftName, leftValue], [rightName, rightValue]) =>
      leftName === rightName ? compare(leftValue, rightValue) : compare(leftName, rightName),
    )
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** Encoded text is ASCII, so comparing code units compares bytes. */
function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function canonicalValue(values: readonly string[]): string {
  return values.map((value) => value.trim().replace(/ {2,}/g, ' ')).join(',');
}
