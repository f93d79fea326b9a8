import { domainToASCII } from 'node:url';

const HOST = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

const NOT_IN_A_HOST = /[\s/\\:@?#%[\]]/;

/**
 * Normalizes a host name, or `*.` and a host name (all names below it, but not the name itself), to lower case and its
 * ASCII form for DNS. Returns null for anything else, including addresses.
 */
export function egressHost(given: string): string | null {
  if (NOT_IN_A_HOST.test(given)) return null; // characters at which a URL ends the host
  const wildcard = given.startsWith('*.');
  const name = domainToASCII((wildcard ? given.slice(2) : given).replace(/\.$/, '')).toLowerCase();
  if (!HOST.test(name)) return null;
  return wildcard ? `*.${name}` : name;
}

/** Whether the allowlist matches a name, which is in lower case and has no trailing dot. */
export function allowsHost(allowed: readonly string[], name: string): boolean {
  return allowed.some((each) => (each.startsWith('*.') ? name.endsWith(each.slice(1)) : name === each));
}
