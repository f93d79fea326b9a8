import { readFile } from 'node:fs/promises';

/** The second holds the real ones where a local stub stands in the first. */
const FILES = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf'];

/** IPv4 resolvers of this host that a sandbox can reach: not those on the host's own loopback. */
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
