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

/** An address as it stands in a URL: IPv6 in brackets, a wildcard as the loopback that always reaches it. */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
