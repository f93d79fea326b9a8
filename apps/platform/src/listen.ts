import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Listener } from '@svc/http';
import { startErrors } from './errors.ts';

/** What sets a port: a command flag or a configuration key. */
export type ListenFlag =
  | '--port'
  | '--https-port'
  | '--s3-port'
  | '--s3-https-port'
  | 'metrics.port'
  | 'internal.listen'
  | 'sandboxes.ssh.port'
  | 'object_store.custom_domains.http_port'
  | 'object_store.custom_domains.https_port';

export interface ListenAddress {
  port: number;
  host: string;
  /** The flag that sets the port, named in the error if the port is unavailable. */
  flag: ListenFlag;
}

/** Opens the listener. The error is one line that names the flag to change. */
export async function listenOn(listener: Pick<Listener, 'listen'>, address: ListenAddress): Promise<number> {
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

/** Throws one error naming every port that is in use. Other errors are left to the listeners. */
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
    const listening = once(server, 'listening'); // rejects on a `listen` error
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

/** A listen address in URL form: IPv6 in brackets, a wildcard as the loopback address. */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
