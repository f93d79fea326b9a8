import { parseDurationMs } from '@svc/config';
import { dialMux, type MuxTransport } from '@svc/mux';
import { TUNNEL_PATH } from '@svc/protocol';
import { channelUrl, connectionOptions } from '../channel/dial.ts';
import type { LiveConfig } from '../config/live-config.ts';
import type { PlatformToken } from '../config/platform-token.ts';

export type TunnelDial = (signal: AbortSignal) => Promise<{ transport: MuxTransport; kind: 'raw' | 'websocket' }>;

/** Opens one tunnel with the current configuration and token, through the proxy if one is configured. */
export function createTunnelDial(config: LiveConfig, token: PlatformToken): TunnelDial {
  return async (signal) => {
    const { current } = config;
    const { svc, agent } = current;
    const timeoutMs = parseDurationMs(svc.timeout);
    const address = channelUrl(svc.api_url, TUNNEL_PATH);
    const url = new URL(svc.api_url);
    url.pathname = address.pathname;
    const connection = await connectionOptions(current, address, timeoutMs);
    return dialMux({
      url,
      headers: {
        authorization: `Bearer ${await token.read()}`,
        'x-cluster-id': svc.cluster_id ?? agent.cluster_name,
        'user-agent': 'svc-agent',
      },
      connection,
      timeoutMs,
      signal,
    });
  };
}
