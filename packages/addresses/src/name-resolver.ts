import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Which name servers answer, and how long they may take. */
export interface NameResolverOptions {
  /** `ADDRESS` or `ADDRESS:PORT`, queried in this order. An empty list, the default, uses the system's name servers. */
  readonly servers?: readonly string[];
  /** Timeout of the first query to one server; a second one has twice as long. Defaults to 2,000. */
  readonly timeoutMs?: number;
  /** Defaults to `/etc/hosts`. */
  readonly hostsFile?: string;
  /** The `search` and `ndots` settings are read from here. Defaults to `/etc/resolv.conf`. */
  readonly settingsFile?: string;
}

/**
 * Resolves names without the threads that read and write files, so that slow name servers delay nothing else. Does not
 * cache. A name server that does not answer is an error with a `code` of DNS, such as `ETIMEOUT`.
 */
export interface NameResolver {
  /** What the name is an alias of, in lower case without a trailing dot. Null if it is none, or does not exist. */
  cname(name: string): Promise<string | null>;
  /** Addresses that the name servers have for a full name, IPv4 first. Empty if there are none. */
  addresses(name: string): Promise<readonly string[]>;
  /**
   * Addresses of a host as other programs on this machine resolve it, IPv4 first: `localhost`, the hosts file, then the
   * name servers, with the search domains for short names. Empty if there are none.
   */
  hostAddresses(host: string): Promise<readonly string[]>;
}

const MAX_ADDRESSES = 8;
const TRIES = 2;

/** Creates a resolver that opens sockets only while a query is under way. */
export function createNameResolver(options: NameResolverOptions = {}): NameResolver {
  const { servers = [], timeoutMs = 2_000, hostsFile = '/etc/hosts', settingsFile = '/etc/resolv.conf' } = options;
  // One resolver for each name: it knows the system's name servers of now.
  const open = (): Resolver => {
    const resolver = new Resolver({ timeout: timeoutMs, tries: TRIES });
    if (servers.length > 0) resolver.setServers(servers);
    return resolver;
  };
  return {
    cname: async (name) => {
      const [found] = await orNothing(open().resolveCname(name));
      return found === undefined ? null : found.replace(/\.$/, '').toLowerCase();
    },
    addresses: async (name) => {
      const resolver = open();
      const found = await Promise.all([orNothing(resolver.resolve4(name)), orNothing(resolver.resolve6(name))]);
      return found.flat().slice(0, MAX_ADDRESSES);
    },
    hostAddresses: async (host) => {
      const name = host.replace(/\.$/, '').toLowerCase();
      const known = addressesIn(await textOf(hostsFile), name);
      if (known.length > 0) return known;
      if (/(?:^|\.)localhost$/.test(name)) return ['127.0.0.1', '::1']; // RFC 6761, section 6.3
      const resolver = open();
      for (const each of host.endsWith('.') ? [name] : fullNames(name, await textOf(settingsFile))) {
        const found = await anyAddresses(resolver, each);
        if (found.length > 0) return found;
      }
      return [];
    },
  };
}

/** Addresses of either kind. An error only if nothing was found. */
async function anyAddresses(resolver: Resolver, name: string): Promise<readonly string[]> {
  const answers = await Promise.allSettled([orNothing(resolver.resolve4(name)), orNothing(resolver.resolve6(name))]);
  const found = answers.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  for (const each of answers) if (each.status === 'rejected' && found.length === 0) throw each.reason;
  return found.slice(0, MAX_ADDRESSES);
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

function addressesIn(hosts: string, name: string): readonly string[] {
  const found = wordsOf(hosts).flatMap(([address = '', ...names]) =>
    isIP(address) !== 0 && !address.includes('%') && names.some((each) => each.toLowerCase() === name) ? [address] : [],
  );
  return [...new Set(found)].toSorted((one, other) => isIP(one) - isIP(other)).slice(0, MAX_ADDRESSES);
}

/** The names that a short name can stand for, in the order of the system's resolver (resolv.conf(5)). */
function fullNames(name: string, settings: string): readonly string[] {
  const lines = wordsOf(settings);
  const [, ...domains] = lines.findLast(([key]) => key === 'search' || key === 'domain') ?? [];
  const given = lines.filter(([key]) => key === 'options').flatMap((words) => words);
  const dots = Number(given.findLast((word) => /^ndots:\d+$/.test(word))?.slice('ndots:'.length) ?? 1);
  const extended = domains.map((domain) => `${name}.${domain.replace(/\.$/, '')}`);
  return name.split('.').length > dots ? [name, ...extended] : [...extended, name];
}

/** The words of each line, without comments. */
function wordsOf(text: string): string[][] {
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .split(/\s+/)
      .filter(Boolean),
  );
}

/** Empty without the file. */
async function textOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => '');
}
