import type { EscapeCase } from './escape-case.ts';
import type { Ground } from './ground.ts';
import type { Outcome } from './outcome.ts';
import { METADATA_ADDRESS, OUTSIDE_PORT, PRIVATE_ADDRESSES, PUBLIC_ADDRESS, WORD } from './outside.ts';

const PORT = String(OUTSIDE_PORT);

/** Each control also shows that the sandbox has a network: it reaches the public address of the same neighbor. */
export function networkCases(): EscapeCase[] {
  const unreachable = (title: string, kind: 'connect' | 'datagram', address: string): EscapeCase => ({
    title,
    attempt: async ({ sandbox }) => (await sandbox('one')).probe(kind, address, PORT, WORD),
    control: (ground) => both(ground.host(kind, address, PORT, WORD), fromInside(ground, kind)),
  });
  return [
    unreachable('reads the metadata of a cloud', 'connect', METADATA_ADDRESS),
    ...PRIVATE_ADDRESSES.map((address) => unreachable(`reaches ${address} by TCP`, 'connect', address)),
    ...PRIVATE_ADDRESSES.slice(0, 1).map((address) => unreachable(`reaches ${address} by UDP`, 'datagram', address)),
    {
      title: "reaches this host's loopback",
      attempt: async ({ sandbox, outside }) =>
        (await sandbox('one')).probe('connect', '127.0.0.1', String(outside.platformPort), WORD),
      control: ({ host, outside }) => host('connect', '127.0.0.1', String(outside.platformPort), WORD),
    },
    {
      title: "reaches the platform's port through any address of this host",
      attempt: async ({ sandbox, outside }) => {
        const one = await sandbox('one');
        const targets = ['gateway', ...outside.hostAddresses];
        const found: Outcome[] = [];
        for (const target of targets)
          found.push(await one.probe('connect', target, String(outside.platformPort), WORD));
        return found.find(({ done }) => done) ?? { done: false, detail: found.map(({ detail }) => detail).join('; ') };
      },
      control: async (ground) => {
        const { host, outside } = ground;
        const port = String(outside.platformPort);
        const reached = outside.hostAddresses.map((address) => host('connect', address, port, WORD));
        return both(...reached, fromInside(ground, 'connect'));
      },
    },
    {
      title: 'reaches another sandbox',
      attempt: (ground) => towardsNeighbour(ground, 'connect'),
      control: (ground) => withinItself(ground),
    },
    {
      title: 'reaches another sandbox with raw frames, past the routes',
      attempt: (ground) => towardsNeighbour(ground, 'connect-on-link'),
      control: async ({ sandbox }) => (await sandbox('one')).probe('connect-on-link', PUBLIC_ADDRESS, PORT, WORD),
    },
    {
      title: 'reaches this host with raw frames, past the routes',
      attempt: async ({ sandbox, outside }) =>
        (await sandbox('one')).probe('connect-on-link', 'gateway', String(outside.platformPort), WORD),
      control: async ({ sandbox }) => (await sandbox('one')).probe('connect-on-link', PUBLIC_ADDRESS, PORT, WORD),
    },
    {
      title: 'reaches anything without a network',
      attempt: async ({ sandbox }) =>
        (await sandbox('quiet', { network: 'none' })).probe('connect', PUBLIC_ADDRESS, PORT, WORD),
      control: (ground) => fromInside(ground, 'connect'),
    },
    {
      title: "reaches this host's abstract unix sockets",
      attempt: async ({ sandbox, outside }) => (await sandbox('one')).probe('abstract', outside.abstractName, WORD),
      control: ({ host, outside }) => host('abstract', outside.abstractName, WORD),
    },
  ];
}

async function fromInside({ sandbox }: Ground, kind: 'connect' | 'datagram'): Promise<Outcome> {
  return (await sandbox('one')).probe(kind, PUBLIC_ADDRESS, PORT, WORD);
}

async function both(...outcomes: Promise<Outcome>[]): Promise<Outcome> {
  const all = await Promise.all(outcomes);
  return { done: all.every(({ done }) => done), detail: all.map(({ detail }) => detail).join('; ') };
}

const LISTEN = `(while :; do echo ${WORD} | nc -l -p 9000; done) >/dev/null 2>&1 & sleep 0.3`;

async function addressOf(ground: Ground, name: string): Promise<string> {
  const { stdout } = await (await ground.sandbox(name)).shell('ip -4 addr show eth0');
  return /inet ([0-9.]+)/.exec(stdout)?.[1] ?? '';
}

async function towardsNeighbour(ground: Ground, kind: string): Promise<Outcome> {
  await (await ground.sandbox('two')).shell(LISTEN);
  return (await ground.sandbox('one')).probe(kind, await addressOf(ground, 'two'), '9000', WORD);
}

/** The neighbor's server does respond at its address. */
async function withinItself(ground: Ground): Promise<Outcome> {
  const two = await ground.sandbox('two');
  await two.shell(LISTEN);
  return two.probe('connect', await addressOf(ground, 'two'), '9000', WORD);
}
