import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { AddressShares } from '@svc/addresses';
import type { ShareOutcome, ShareRefusal } from '@svc/runtime';
import { compile } from '@fastify/proxy-addr';
import { endpointOf } from './connections.ts';

/** A connection that was closed because its address or network holds its share. */
export interface RefusedConnection extends ShareRefusal {
  readonly remoteAddress: string;
}

/** How a listener shares its connections between client addresses and the networks around them. */
export interface ConnectionSharesOptions {
  /** Addresses or networks that stand for many clients: held to no share. */
  readonly trustedProxies?: readonly string[];
  /** Maximum connections in their TLS handshake. Those that completed it then need no share. */
  readonly maxHandshakes?: number;
  /** Called for each connection that is closed at once. */
  readonly onRefused?: (refused: RefusedConnection) => void;
}

/**
 * Closes connections beyond the share of their address or network before anything else handles them. Call after all
 * listeners for `connection` are added that must not see those.
 */
export function shareConnections(server: Server, maxConnections: number, options: ConnectionSharesOptions): void {
  const { maxHandshakes, onRefused = () => undefined } = options;
  const take = createShares(maxHandshakes ?? maxConnections, options);
  /** Shares of connections in their handshake, by endpoint. */
  const handshakes = new Map<string, () => void>();

  const admits = (socket: Socket): boolean => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return true; // closed already
    const { refusal, release } = take(remoteAddress);
    if (refusal !== null) {
      onRefused({ ...refusal, remoteAddress });
      return false;
    }
    const endpoint = endpointOf(socket);
    if (maxHandshakes !== undefined) handshakes.set(endpoint, release);
    socket.once('close', () => {
      release();
      if (handshakes.get(endpoint) === release) handshakes.delete(endpoint);
    });
    return true;
  };
  admitFirst(server, admits);
  server.on('secureConnection', (socket: Socket) => {
    const endpoint = endpointOf(socket);
    handshakes.get(endpoint)?.();
    handshakes.delete(endpoint);
  });
}

/**
 * Shares `capacity` between client addresses and the networks around them. Returns a function that takes one for an
 * address.
 */
export function createShares(
  capacity: number,
  { trustedProxies = [] }: Pick<ConnectionSharesOptions, 'trustedProxies'>,
): (address: string) => ShareOutcome {
  const isProxy = trustedProxies.length === 0 ? () => false : compile([...trustedProxies]);
  const shares = new AddressShares({ capacity });
  return (address) => (isProxy(address, 0) ? shares.takeUnshared() : shares.take(address));
}

/** Node's own handler of connections is a listener too, so that `prependListener` would not spare it the socket. */
function admitFirst(server: Server, admits: (socket: Socket) => boolean): void {
  const handlers = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (!admits(socket)) {
      socket.on('error', () => undefined); // a reset must not crash the process
      socket.destroy();
      return;
    }
    for (const handle of handlers) handle.call(server, socket);
  });
}
