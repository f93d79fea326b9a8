import type { IncomingMessage } from 'node:http';
import { all, compile } from '@fastify/proxy-addr';

/** The client's address and protocol, according to the connection and trusted proxies. */
export interface RequestClient {
  remoteAddress: string;
  /** Whether the client used TLS, to this process or to a trusted proxy. */
  isSecure: boolean;
}

/** Determines the client of a request, including requests that never reach the app, such as upgrades. */
export type ClientOfRequest = (request: IncomingMessage) => RequestClient;

/**
 * Applies `trusted_proxies` to requests outside of the app, such as upgrades and S3; equals `request.ip` and
 * `request.protocol` inside it. Without trusted proxies, `X-Forwarded-*` is ignored. A request that another replica
 * forwarded has the client that reached that replica.
 */
export function createClientOfRequest(
  trustedProxies: readonly string[] = [],
  hopOf: (request: IncomingMessage) => { readonly client: RequestClient } | null = () => null,
): ClientOfRequest {
  const trusts = trustedProxies.length === 0 ? () => false : compile([...trustedProxies]);
  return (request) => {
    const hop = hopOf(request);
    if (hop !== null) return hop.client;
    const { socket } = request;
    const address = socket.remoteAddress;
    if (address === undefined || !trusts(address, 0)) {
      return { remoteAddress: address ?? '', isSecure: isEncrypted(request) };
    }
    // The trusted proxy wrote the last entry; the client may have forged earlier ones.
    const forwarded =
      String(request.headers['x-forwarded-proto'] ?? '')
        .split(',')
        .at(-1)
        ?.trim() ?? '';
    const isSecure = forwarded === '' ? isEncrypted(request) : forwarded.toLowerCase() === 'https';
    return { remoteAddress: all(request, trusts).at(-1) ?? address, isSecure };
  };
}

/** Whether this connection itself uses TLS. */
function isEncrypted({ socket }: IncomingMessage): boolean {
  return 'encrypted' in socket && socket.encrypted === true;
}
