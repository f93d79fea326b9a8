import type { IncomingMessage } from 'node:http';

const ENVD_PORT = '49983';
const PORT = /^[1-9]\d{0,4}$/;
const ID = /^(?:sbx_)?([a-z2-7]{26})$/;
/** What addresses a port, and secrets of the client that are not meant for the program. */
const NOT_FOR_PROGRAMS: ReadonlySet<string> = new Set([
  'e2b-sandbox-id',
  'e2b-sandbox-port',
  'x-access-token',
  'cookie',
]);
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
  request: Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'url'>,
  domain: string,
  prefix: string,
): boolean {
  const { headers, url = '/' } = request;
  const { 'e2b-sandbox-id': named, 'e2b-sandbox-port': port } = headers;
  const name = nameOf(headers.host);
  if (!url.startsWith(`${prefix}/`) || name === domain || name.endsWith(`.${domain}`)) return false;
  const [, id] = typeof named === 'string' ? (ID.exec(named) ?? []) : [];
  if (id === undefined || typeof port !== 'string' || port === ENVD_PORT || !PORT.test(port)) return false;
  for (const header of NOT_FOR_PROGRAMS) delete headers[header];
  headers.host = `${port}-${id}.${domain}`;
  changeRaw(request.rawHeaders, headers.host);
  request.url = url.slice(prefix.length);
  return true;
}

/** The raw headers go to another replica if that has the sandbox. */
function changeRaw(rawHeaders: string[], host: string): void {
  for (let index = rawHeaders.length - 2; index >= 0; index -= 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (NOT_FOR_PROGRAMS.has(name)) rawHeaders.splice(index, 2);
    else if (name === 'host') rawHeaders[index + 1] = host;
  }
}

function nameOf(host = ''): string {
  return host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
}
