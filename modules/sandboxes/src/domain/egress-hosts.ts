import { domainToASCII } from 'node:url';

const HOST = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

const NOT_IN_A_HOST = /[\s/\\:@?#%[\]]/;

/**
 * A host name, or `*.` and a host name for all names below it (not itself), in lower case and as DNS has it. Null for what
 * is neither, addresses included.
 */
export function egressHost(given: string): string | null {
  if (NOT_IN_A_HOST.test(given)) return null; // what a URL would end the host at
  const wildcard = given.startsWith('*.');
  const name = domainToASCII((wildcard ? given.slice(2) : given).replace(/\.$/, '')).toLowerCase();
  if (!HOST.test(name)) return null;
  return wildcard ? `*.${name}` : name;
}

/** Whether a name in lower case, without a dot at its end, is one of the allowed. */
export function allowsHost(allowed: readonly string[], name: string): boolean {
  return allowed.some((each) => (each.startsWith('*.') ? name.endsWith(each.slice(1)) : name === each));
}
