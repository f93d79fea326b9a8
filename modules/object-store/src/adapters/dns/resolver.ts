import { Resolver } from 'node:dns/promises';
import type { DomainResolver } from '../../domain/ports/custom-domains.ts';

export interface DnsResolverOptions {
  /** `ADDRESS` or `ADDRESS:PORT`, asked in this order; those of the machine when empty. */
  servers: readonly string[];
  /** Of one question to one server. */
  timeoutMs?: number;
}

const MOST_ADDRESSES = 8;

/** Asks the name servers themselves, without the hosts file. Nothing is kept between questions. */
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

/** That there is no such name or no such record is an answer; that nobody answered is not. */
async function orNothing(question: Promise<string[]>): Promise<string[]> {
  try {
    return await question;
  } catch (error) {
    const code = (error as { code?: unknown }).code; // a foreign error, only compared
    if (code === 'ENODATA' || code === 'ENOTFOUND') return [];
    throw error;
  }
}
