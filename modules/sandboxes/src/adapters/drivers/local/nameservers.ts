import { readFile } from 'node:fs/promises';

/** The second file has the real resolvers when the first points to a local stub. */
const FILES = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'];

/** IPv4 resolvers of this host that sandboxes can reach; excludes the host's loopback. */
export async function hostNameservers(): Promise<string[]> {
  for (const file of FILES) {
    const found = parseNameservers(await readFile(file, 'utf8').catch(() => ''));
    if (found.length > 0) return found;
  }
  return [];
}

export function parseNameservers(text: string): string[] {
  return [...text.matchAll(/^\s*nameserver\s+([0-9]+(?:\.[0-9]+){3})\s*$/gm)]
    .map((match) => match[1] ?? '')
    .filter((address) => address !== '' && !address.startsWith('127.'))
    .slice(0, 3);
}
