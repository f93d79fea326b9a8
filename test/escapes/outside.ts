import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { runCommand } from '../kubernetes/commands.ts';

const NAMESPACE = 'svc-escapes';
const LINK = 'svcesc0';
const HERE = '11.11.12.1';

/** Response of the neighbor to every client. */
export const WORD = 'reached-by-somebody';
export const PUBLIC_ADDRESS = '11.11.12.2';
export const METADATA_ADDRESS = '169.254.169.254';
/** One address from each range of RFC 1918, and of the carrier and benchmark ranges. */
export const PRIVATE_ADDRESSES = ['10.99.0.2', '172.20.99.2', '192.168.99.2', '100.64.9.2', '198.18.9.2'];
export const OUTSIDE_PORT = 8080;

const OUTSIDE_ADDRESSES = [PUBLIC_ADDRESS, METADATA_ADDRESS, ...PRIVATE_ADDRESSES];

/** One socket per address, so that a datagram is answered from its destination. */
const SERVER = `
  const { createServer } = require('node:net');
  const { createSocket } = require('node:dgram');
  createServer((socket) => socket.on('error', () => {}).end('${WORD}')).listen(${OUTSIDE_PORT}, '0.0.0.0');
  let bound = 0;
  for (const address of ${JSON.stringify(OUTSIDE_ADDRESSES)}) {
    const socket = createSocket('udp4');
    socket.on('message', (_, from) => socket.send('${WORD}', from.port, from.address));
    socket.bind(${OUTSIDE_PORT}, address, () => ++bound === ${OUTSIDE_ADDRESSES.length} && console.log('up'));
  }
`;

/** How long a table waits for another one that runs on this machine. */
export const TURN_LIMIT_MS = 20 * 60_000;
const TURN_POLL_MS = 500;

export interface Outside {
  /** A port on all addresses of this host, like the platform's. */
  readonly platformPort: number;
  /** IPv4 addresses of this host, except loopback. */
  readonly hostAddresses: readonly string[];
  /** An abstract Unix socket of this host. */
  readonly abstractName: string;
  close(): Promise<void>;
}

/**
 * Starts a neighbor in a network namespace with a public address, private ones and the metadata address, all routed
 * there from this host, and servers on this host. Without a responding target, a refusal would prove nothing.
 */
export async function startOutside(): Promise<Outside> {
  const ip = async (line: string): Promise<unknown> => runCommand('ip', line.split(' '));
  const turn = await takeTurn();
  // Left by an interrupted run.
  for (const left of [`link del ${LINK}`, `netns del ${NAMESPACE}`]) await ip(left).catch(() => undefined);
  const owned: { child: ChildProcess | null; servers: Server[] } = { child: null, servers: [] };
  const close = async (): Promise<void> => {
    owned.child?.kill('SIGKILL');
    for (const server of owned.servers) await new Promise((resolve) => server.close(resolve));
    await ip(`netns del ${NAMESPACE}`).finally(() => turn.close()); // also removes the link and its routes
  };
  try {
    await ip(`netns add ${NAMESPACE}`);
    await ip(`link add ${LINK} type veth peer name eth0 netns ${NAMESPACE}`);
    await ip(`addr add ${HERE}/30 dev ${LINK}`);
    await ip(`link set ${LINK} up`);
    await ip(`-n ${NAMESPACE} link set lo up`);
    await ip(`-n ${NAMESPACE} addr add ${PUBLIC_ADDRESS}/30 dev eth0`);
    await ip(`-n ${NAMESPACE} link set eth0 up`);
    await ip(`-n ${NAMESPACE} route add default via ${HERE}`);
    for (const address of [...PRIVATE_ADDRESSES, METADATA_ADDRESS]) {
      await ip(`-n ${NAMESPACE} addr add ${address}/32 dev lo`);
      await ip(`route add ${address}/32 via ${PUBLIC_ADDRESS}`);
    }
    const child = spawn('ip', ['netns', 'exec', NAMESPACE, process.execPath, '-e', SERVER], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    owned.child = child;
    await once(child.stdout, 'data');
    const answer = (): Server => createServer((socket) => socket.on('error', () => undefined).end(WORD));
    const platform = answer();
    const abstract = answer();
    owned.servers.push(platform, abstract);
    const abstractName = `svc-escapes-${process.pid}`;
    await Promise.all([
      once(platform.listen(0, '0.0.0.0'), 'listening'),
      once(abstract.listen(`\0${abstractName}`), 'listening'),
    ]);
    const address = platform.address();
    return {
      platformPort: typeof address === 'object' && address !== null ? address.port : 0,
      get hostAddresses() {
        return ownAddresses();
      },
      abstractName,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Waits until no other process of this machine has a neighbor: its addresses are the same for every driver. The name of
 * an abstract socket is free again however its process ends.
 */
async function takeTurn(): Promise<Server> {
  const giveUpAt = performance.now() + TURN_LIMIT_MS;
  for (;;) {
    const server = createServer();
    try {
      await once(server.listen(`\0${NAMESPACE}`), 'listening');
      return server;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
      if (performance.now() > giveUpAt) throw new Error('Another escape table still runs', { cause: error });
    }
    await setTimeout(TURN_POLL_MS);
  }
}

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address);
}
