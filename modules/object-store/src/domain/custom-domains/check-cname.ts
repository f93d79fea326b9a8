import { isIP, type BlockList } from 'node:net';
import type { DnsStatus, DomainResolver } from '../ports/custom-domains.ts';

/** `unanswered`: the name servers gave no conclusive answer. */
export type DnsFinding = { kind: 'answered'; status: DnsStatus; observed: readonly string[] } | { kind: 'unanswered' };

const MOST_HOPS = 8;
const MOST_OBSERVED = 8;

/**
 * Follows the CNAMEs of a host to the target. An address alone proves nothing: all buckets share the same addresses,
 * and only the target's name identifies the bucket.
 */
export async function checkCname(
  hostname: string,
  target: string,
  resolver: DomainResolver,
  proxies: BlockList,
): Promise<DnsFinding> {
  try {
    const chain = await followChain(hostname, target, resolver);
    if (chain.at(-1) === target) return { kind: 'answered', status: 'ok', observed: chain };
    const addresses = await resolver.addresses(hostname);
    const isProxied = addresses.some((address) => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'));
    const observed = (chain.length > 0 ? chain : addresses).slice(0, MOST_OBSERVED);
    if (isProxied) return { kind: 'answered', status: 'proxied', observed };
    return { kind: 'answered', status: observed.length === 0 ? 'missing' : 'mismatch', observed };
  } catch {
    return { kind: 'unanswered' }; // timeouts, SERVFAIL and broken zones are inconclusive
  }
}

async function followChain(hostname: string, target: string, resolver: DomainResolver): Promise<string[]> {
  const chain: string[] = [];
  let name = hostname;
  for (let hop = 0; hop < MOST_HOPS; hop += 1) {
    const next = await resolver.cname(name);
    if (next === null) break;
    chain.push(next);
    if (next === target || chain.indexOf(next) < chain.length - 1) break; // found, or a loop
    name = next;
  }
  return chain;
}
