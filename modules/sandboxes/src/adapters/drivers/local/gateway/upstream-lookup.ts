import type { LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { publicAddresses } from '@svc/addresses';

const PUBLIC = publicAddresses([]);

/** No address of the host that a sandbox may reach. */
export class NoPublicAddress extends Error {}

/**
 * Resolves the host of an outgoing connection of the platform itself, to which no firewall of a sandbox applies: only to
 * public addresses that are not of this machine. The connection is made to what this returns, so a later answer of the
 * name server changes nothing.
 */
export function createUpstreamLookup(resolve: (host: string) => Promise<readonly string[]>): LookupFunction {
  return (host, options, reply) => {
    resolve(host).then(
      (found) => {
        const own = ownAddresses();
        const addresses = found.filter((address) => PUBLIC.allows(address) && !own.has(address));
        const first = addresses[0];
        if (first === undefined) {
          reply(new NoPublicAddress(`${host} has no public address`), '', 4);
        } else if (options.all === true) {
          reply(
            null,
            addresses.map((address) => ({ address, family: 4 })),
          );
        } else {
          reply(null, first, 4);
        }
      },
      (error: unknown) => reply(error instanceof Error ? error : new Error(String(error)), '', 4),
    );
  };
}

function ownAddresses(): ReadonlySet<string> {
  return new Set(
    Object.values(networkInterfaces())
      .flat()
      .flatMap((each) => (each === undefined ? [] : [each.address])),
  );
}
