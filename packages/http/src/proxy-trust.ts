import type { IncomingMessage } from 'node:http';
import proxyAddress from '@fastify/proxy-addr';

/** Who sent a request that may have come through proxies, for handlers that do not run behind Fastify. */
export interface ProxyTrust {
  /** The client's address: of the last hop that is no trusted proxy. */
  addressOf(incoming: IncomingMessage): string;
  /** Whether the client used TLS, to this process or to a trusted proxy. */
  isSecure(incoming: IncomingMessage): boolean;
}

/** The rule of `trusted_proxies`: addresses and networks whose `X-Forwarded-For` and `X-Forwarded-Proto` count. */
export function createProxyTrust(trustedProxies: readonly string[] = []): ProxyTrust {
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  return {
    addressOf: (incoming) => (incoming.socket.remoteAddress === undefined ? '' : proxyAddress(incoming, isTrusted)),
    isSecure: (incoming) => {
      const forwarded = [incoming.headers['x-forwarded-proto'] ?? []].flat().join(',');
      const isProxied = forwarded !== '' && isTrusted(incoming.socket.remoteAddress ?? '', 0);
      if (isProxied) return forwarded.split(',').at(-1)?.trim().toLowerCase() === 'https';
      return 'encrypted' in incoming.socket && incoming.socket.encrypted === true;
    },
  };
}
