import type { IncomingMessage } from 'node:http';

const ENVD_PORT = '49983';
const PORT = /^[1-9]\d{0,4}$/;
const ID = /^(?:sbx_)?([a-z2-7]{26})$/;
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
  const host = nameOf(request.headers.host);
  const [, id, rest] = HOST.exec(host) ?? [];
  if (id === undefined || rest !== domain) return false;
  request.headers['e2b-sandbox-id'] = id;
  delete request.headers['e2b-sandbox-port'];
  const url = request.url ?? '/';
  // Another replica may have forwarded it.
  if (!url.startsWith(`${prefix}/`)) request.url = `${prefix}${url.startsWith('/') ? url : '/'}`;
  return true;
}

/**
 * Gives a request below the prefix whose headers name a port of a program the host of that port, `PORT-ID.DOMAIN`, which
 * needs no DNS then. Clients of the code interpreter send such requests. The program gets neither cookies nor the token of
 * the data plane.
 */
export function directToPort(
  request: Pick<IncomingMessage, 'headers' | 'url'>,
  domain: string,
  prefix: string,
): boolean {
  const { headers, url = '/' } = request;
  const { 'e2b-sandbox-id': named, 'e2b-sandbox-port': port } = headers;
  const name = nameOf(headers.host);
  if (!url.startsWith(`${prefix}/`) || name === domain || name.endsWith(`.${domain}`)) return false;
  const [, id] = typeof named === 'string' ? (ID.exec(named) ?? []) : [];
  if (id === undefined || typeof port !== 'string' || port === ENVD_PORT || !PORT.test(port)) return false;
  for (const header of ['e2b-sandbox-id', 'e2b-sandbox-port', 'x-access-token', 'cookie']) delete headers[header];
  headers.host = `${port}-${id}.${domain}`;
  request.url = url.slice(prefix.length);
  return true;
}

function nameOf(host = ''): string {
  return host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
}
