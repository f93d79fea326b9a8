import { domainToASCII } from 'node:url';
import { complementOf, egressRange, rangesOf } from './egress-ranges.ts';

/** In an allowlist: any name resolves, but only to addresses in the list's ranges. */
export const ANY_NAME = '*';

/** An allowlist that lets everything through, for a sandbox whose list changes. */
export const EVERYTHING: readonly string[] = [ANY_NAME, '0.0.0.0/0'];

/** The allowlist that lets everything through except the ranges. */
export function everythingExcept(denied: readonly string[]): string[] {
  const rest = complementOf(denied);
  return rest.length === 0 ? [] : [ANY_NAME, ...rest];
}

/** The ranges that an allowlist denies, if it resolves all names: the reverse of `everythingExcept`. */
export function deniedRanges(allowed: readonly string[] | null): string[] {
  return allowed?.includes(ANY_NAME) === true ? complementOf(rangesOf(allowed)) : [];
}

const HOST = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

const NOT_IN_A_HOST = /[\s/\\:@?#%[\]]/;

/**
 * Normalizes a hostname, or `*.` and a hostname (all names below it, but not the name itself), to lower case and its
 * ASCII form for DNS. Returns null for anything else, including addresses.
 */
export function egressHost(given: string): string | null {
  if (NOT_IN_A_HOST.test(given)) return null; // characters at which a URL ends the host
  const wildcard = given.startsWith('*.');
  const name = domainToASCII((wildcard ? given.slice(2) : given).replace(/\.$/, '')).toLowerCase();
  if (!HOST.test(name)) return null;
  return wildcard ? `*.${name}` : name;
}

/** Normalizes an entry of an allowlist: a host, an IPv4 address or range, or `*`. Returns null for anything else. */
export function egressTarget(given: string): string | null {
  return given === ANY_NAME ? ANY_NAME : (egressRange(given) ?? egressHost(given));
}

/** Whether a host of the allowlist matches a name, which is in lower case and has no trailing dot. */
export function allowsHost(allowed: readonly string[], name: string): boolean {
  return allowed.some((each) => (each.startsWith('*.') ? name.endsWith(each.slice(1)) : name === each));
}
