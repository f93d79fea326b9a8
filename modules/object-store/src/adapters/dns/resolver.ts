import { Resolver } from 'node:dns/promises';
import type { DomainResolver } from '../../domain/ports/custom-domains.ts';

export interface DnsResolverOptions {
  /** `ADDRESS` or `ADDRESS:PORT`, queried in this order. An empty list uses the system's name servers. */
  servers: readonly string[];
  /** Timeout of one query to one server. Defaults to 2,000. */
  timeoutMs?: number;
}

const MOST_ADDRESSES = 8;

/** Queries the name servers directly, bypassing the hosts file. Does not cache. */
export function createDnsResolver(options: DnsResolverOptions): DomainResolver {
  const resolver = new Resolver({ timeout: options.timeoutMs ?? 2_000, tries: 2 });
  if (options.servers.length > 0) resolver.setServers(options.servers);
  return {
    cname: async (hostname) => {
      const [found] = await orNothing(resolver.resolveCname(hostname));
      return found === undefined ? null : found.replace(/\.$/, '').toLowerCase();
    },
    addresses: async (hostname) => {
      const ipv4 = await orNothing(resolver.resolve4(hostname));
      const ipv6 = await orNothing(resolver.resolve6(hostname));
      return [...ipv4, ...ipv6].slice(0, MOST_ADDRESSES);
    },
  };
}

/** A missing name or record is a valid (empty) answer; a query without a response is an error. */
async function orNothing(question: Promise<string[]>): Promise<string[]> {
  try {
    return await question;
  } catch (error) {
    const code = (error as { code?: unknown }).code; // a foreign error; only compared
    if (code === 'ENODATA' || code === 'ENOTFOUND') return [];
    throw error;
  }
}
