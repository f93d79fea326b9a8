import type { IncomingHttpHeaders } from 'node:http';
import type { BuiltFile, ContentEncoding, FileVariant } from './built-files.ts';

/** Smallest first. */
const PREFERENCE: readonly ContentEncoding[] = ['br', 'gzip', 'identity'];

/** The smallest variant that the client accepts (RFC 9110, 12.5.3), and its encoding. */
export function chooseVariant(
  file: BuiltFile,
  headers: IncomingHttpHeaders,
): { variant: FileVariant; encoding: ContentEncoding } | null {
  const accepted = acceptedEncodings(headers['accept-encoding']);
  for (const encoding of PREFERENCE) {
    const variant = file.variants[encoding];
    if (variant !== undefined && (encoding === 'identity' || accepted.has(encoding))) return { variant, encoding };
  }
  return null;
}

function acceptedEncodings(header: string | string[] | undefined): ReadonlySet<string> {
  const accepted = new Set<string>();
  for (const part of String(header ?? '').split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) accepted.add(name);
  }
  return accepted;
}

/** True if the client's copy is current (RFC 9110, 13.1.2; weak comparison). */
export function isFresh(headers: IncomingHttpHeaders, etag: string): boolean {
  const header = headers['if-none-match'];
  if (header === undefined) return false;
  return header.split(',').some((candidate) => {
    const tag = candidate.trim().replace(/^W\//, '');
    return tag === '*' || tag === etag;
  });
}

/** True for page loads by a browser; scripts and API clients with a wrong path get a readable error instead. */
export function isNavigation(headers: IncomingHttpHeaders): boolean {
  const mode = headers['sec-fetch-mode'];
  return (headers.accept ?? '').includes('text/html') && (mode === undefined || mode === 'navigate');
}
