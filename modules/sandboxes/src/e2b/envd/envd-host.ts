import type { IncomingMessage } from 'node:http';

const HOST = /^49983-([a-z2-7]{26})\.(.+)$/;

/**
 * Directs a request for the host `49983-ID.DOMAIN` to the routes of the data plane, as if the client had named the
 * sandbox in a header. Returns false for every other host. Such a host serves nothing else.
 */
export function directToEnvd(
  request: Pick<IncomingMessage, 'headers' | 'url'>,
  domain: string,
  prefix: string,
): boolean {
  const host = (request.headers.host ?? '').toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  const [, id, rest] = HOST.exec(host) ?? [];
  if (id === undefined || rest !== domain) return false;
  request.headers['e2b-sandbox-id'] = id;
  delete request.headers['e2b-sandbox-port'];
  const url = request.url ?? '/';
  // Another replica may have forwarded it.
  if (!url.startsWith(`${prefix}/`)) request.url = `${prefix}${url.startsWith('/') ? url : '/'}`;
  return true;
}
