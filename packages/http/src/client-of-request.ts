import type { IncomingMessage } from 'node:http';
import { all, compile } from '@fastify/proxy-addr';

/** How a client reached the platform, as far as the connection and trusted proxies tell. */
export interface RequestClient {
  remoteAddress: string;
  /** Whether the client came over TLS, to us or to a trusted proxy. */
  isSecure: boolean;
}

export type ClientOfRequest = (request: IncomingMessage) => RequestClient;

/**
 * The rule of `trusted_proxies` for requests outside of the app, such as upgrades and S3: what `request.ip` and
 * `request.protocol` are inside of it. Without trusted proxies no `X-Forwarded-*` counts.
 */
export function createClientOfRequest(trustedProxies: readonly string[] = []): ClientOfRequest {
  const trusts = trustedProxies.length === 0 ? () => false : compile([...trustedProxies]);
  return (request) => {
    const { socket } = request;
    const address = socket.remoteAddress;
    if (address === undefined || !trusts(address, 0)) {
      return { remoteAddress: address ?? '', isSecure: isEncrypted(request) };
    }
    // The last entry was written by the proxy that we trust; those before it may be the client's own.
    const forwarded =
      String(request.headers['x-forwarded-proto'] ?? '')
        .split(',')
        .at(-1)
        ?.trim() ?? '';
    const isSecure = forwarded === '' ? isEncrypted(request) : forwarded.toLowerCase() === 'https';
    return { remoteAddress: all(request, trusts).at(-1) ?? address, isSecure };
  };
}

/** Whether this very connection is TLS. */
function isEncrypted({ socket }: IncomingMessage): boolean {
  return 'encrypted' in socket && socket.encrypted === true;
}
