import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { storeErrors } from '../../errors.ts';

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const NOT_IN_A_NAME = /[\s/:@?#*\\%[\]]/;

/**
 * Normalizes a hostname: lower case, A-labels (RFC 5890), no trailing dot. Throws `InvalidHostname` for wildcards,
 * addresses, single labels, and names at or below one of `ownSuffixes`.
 */
export function normalizeHostname(input: string, ownSuffixes: readonly string[]): string {
  const name = toAscii(input);
  const labels = name.split('.');
  if (isIP(name) !== 0 || /^\d+$/.test(labels.at(-1) ?? '')) throw invalid('is an address');
  if (labels.length < 2) throw invalid('needs at least two labels');
  if (name.length > 253 || !labels.every((label) => LABEL.test(label))) throw invalid('is not a valid DNS name');
  if (isBelow(name, ['localhost', ...ownSuffixes])) throw invalid('belongs to this platform');
  return name;
}

/** Whether a name is one of `suffixes` or below one. */
export function isBelow(name: string, suffixes: readonly string[]): boolean {
  return suffixes.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
}

/** The name in a request or TLS handshake, for lookups. Null if it cannot be a hostname; not validated further. */
export function parseHostname(hostHeader: string): string | null {
  const name = hostHeader.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
  return name.length > 253 || !name.split('.').every((label) => LABEL.test(label)) ? null : name;
}

function toAscii(input: string): string {
  const trimmed = input.trim();
  if (trimmed.includes('*')) throw invalid('is a wildcard');
  if (trimmed.length > 1_024) throw invalid('is not a valid DNS name');
  if (isIP(trimmed.replace(/^\[(.*)\]$/, '$1')) !== 0) throw invalid('is an address');
  if (NOT_IN_A_NAME.test(trimmed)) throw invalid('must be only a name, such as files.example.com');
  const name = domainToASCII(trimmed.replace(/\.$/, ''));
  if (name === '') throw invalid('is not a valid DNS name');
  return name.toLowerCase();
}

function invalid(reason: string): Error {
  return storeErrors.InvalidHostname({ details: { field: 'hostname', reason } });
}
