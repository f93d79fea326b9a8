import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Listener } from '@svc/http';
import { startErrors } from './errors.ts';

/** What changes a port: a flag of the command, or a key of the configuration. */
export type ListenFlag =
  | '--port'
  | '--https-port'
  | '--s3-port'
  | '--s3-https-port'
  | 'metrics.port'
  | 'object_store.custom_domains.http_port'
  | 'object_store.custom_domains.https_port';

export interface ListenAddress {
  port: number;
  host: string;
  /** The flag that changes the port, named when it cannot be had. */
  flag: ListenFlag;
}

/** Opens the listener or says in one line which flag to change. */
export async function listenOn(listener: Listener, address: ListenAddress): Promise<number> {
  try {
    return await listener.listen(address.port, address.host);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const details = { ...address, reason: String(code) };
    if (code === 'EADDRINUSE') throw startErrors.PORT_IN_USE({ details, cause });
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') throw startErrors.HOST_UNKNOWN({ details, cause });
    throw startErrors.PORT_NOT_ALLOWED({ details, cause });
  }
}

/** Throws one error that names every port that is in use. Any other fault is left to the listener that meets it. */
export async function assertPortsFree(addresses: readonly ListenAddress[]): Promise<void> {
  const taken: ListenAddress[] = [];
  for (const address of addresses) {
    if (address.port !== 0 && (await isInUse(address))) taken.push(address);
  }
  const [first, ...others] = taken;
  if (first === undefined) return;
  if (others.length === 0) throw startErrors.PORT_IN_USE({ details: { ...first, reason: 'EADDRINUSE' } });
  const ports = listed(taken.map(({ port, host }) => `port ${port} on ${host}`));
  throw startErrors.PORTS_IN_USE({ details: { ports, flags: listed(taken.map(({ flag }) => flag)) } });
}

async function isInUse({ port, host }: ListenAddress): Promise<boolean> {
  const server = createServer();
  try {
    const listening = once(server, 'listening'); // rejects with what `listen` meets
    server.listen(port, host);
    await listening;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  }
  server.close();
  await once(server, 'close');
  return false;
}

function listed(texts: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(texts);
}

/** An address as it stands in a URL: IPv6 in brackets, a wildcard as the loopback that always reaches it. */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
