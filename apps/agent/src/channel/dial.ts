import { readFile } from 'node:fs/promises';
import type { Agent } from 'node:http';
import { getCACertificates, type ConnectionOptions } from 'node:tls';
import { parseDurationMs } from '@svc/config';
import { PROTOCOL_HEADER, PROTOCOL_LIMITS, PROTOCOL_VERSION } from '@svc/protocol';
import type { ClientOptions } from 'ws';
import type { LiveConfig } from '../config/live-config.ts';
import type { PlatformToken } from '../config/platform-token.ts';
import type { AgentConfig } from '../config/schema.ts';
import { shakeHands, type Handshake } from './handshake.ts';
import { bypassesProxy, proxyAgent } from './proxy.ts';

/** Opens one connection to the platform with the current configuration and token. */
export type Dial = (signal: AbortSignal) => Promise<Handshake>;

export const CHANNEL_PATH = '/v1/agent/connect';

export function createDial(config: LiveConfig, token: PlatformToken, path: string = CHANNEL_PATH): Dial {
  return async (signal) => {
    const current = config.current;
    const { svc, agent } = current;
    const timeoutMs = parseDurationMs(svc.timeout);
    const url = channelUrl(svc.api_url, path);
    return shakeHands({
      url: url.href,
      headers: {
        authorization: `Bearer ${await token.read()}`,
        'x-cluster-id': svc.cluster_id ?? agent.cluster_name,
        'user-agent': 'svc-agent',
        [PROTOCOL_HEADER]: String(PROTOCOL_VERSION),
      },
      client: await clientOptions(current, url, timeoutMs),
      timeoutMs,
      signal,
    });
  };
}

/** `https://host/prefix` -> `wss://host/prefix/v1/agent/connect`. */
export function channelUrl(apiUrl: string, path: string): URL {
  const url = new URL(apiUrl);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, '')}${path}`;
  return url;
}

async function clientOptions(config: AgentConfig, url: URL, timeoutMs: number): Promise<ClientOptions> {
  const limits = { maxPayload: PROTOCOL_LIMITS.frameSizeBytes, followRedirects: false };
  return { ...limits, ...(await connectionOptions(config, url, timeoutMs)) };
}

/**
 * TLS and proxy options of one connection to the platform (`ws:` or `wss:`), in the form that `ws` and `node:http`
 * take.
 */
export async function connectionOptions(
  config: AgentConfig,
  url: URL,
  timeoutMs: number,
): Promise<TlsOptions & { agent?: Agent }> {
  const secure = url.protocol === 'wss:';
  const tls = secure ? await tlsOptions(config.svc.tls) : {};
  const port = url.port === '' ? (secure ? '443' : '80') : url.port;
  const proxy = config.proxy.https;
  if (proxy === undefined || bypassesProxy(url.hostname, port, config.proxy.no_proxy)) return tls;
  return { agent: proxyAgent(new URL(proxy), secure, tls, timeoutMs) };
}

type TlsOptions = Pick<ConnectionOptions, 'minVersion' | 'rejectUnauthorized' | 'ca' | 'cert' | 'key'>;

/** Read for every attempt, so that rotated certificates take effect without a restart. */
async function tlsOptions(tls: AgentConfig['svc']['tls']): Promise<TlsOptions> {
  const { ca_cert: authority, client_cert: certificate, client_key: key, insecure_skip_verify: insecure } = tls;
  return {
    minVersion: 'TLSv1.2',
    rejectUnauthorized: !insecure,
    ...(authority === undefined ? {} : { ca: [...getCACertificates('default'), await readFile(authority, 'utf8')] }),
    ...(certificate === undefined ? {} : { cert: await readFile(certificate) }),
    ...(key === undefined ? {} : { key: await readFile(key) }),
  };
}
