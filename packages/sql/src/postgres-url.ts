import { sqlErrors } from './errors.ts';

/** Which servers of a URL are usable, as libpq defines it. The platform always writes, so others are refused. */
export type TargetSession = 'any' | 'read-write' | 'primary';

/** One server that a database URL names. */
export interface PostgresAddress {
  /** Host and port, for messages. */
  readonly name: string;
  /** Connection string of `pg` for this server alone. */
  readonly connectionString: string;
}

/** A database URL, parsed. */
export interface PostgresUrl {
  /** In the order of the URL; at least one. */
  readonly addresses: readonly PostgresAddress[];
  readonly targetSession: TargetSession;
  /** The URL's `connect_timeout`; null if it has none. */
  readonly connectTimeoutMs: number | null;
  /** The URL without credentials and parameters, for messages. */
  readonly name: string;
}

const URL_PARTS = /^(postgres(?:ql)?:\/\/)([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?$/;
const HOST_AND_PORT = /^(\[[^[\]]+\]|[^:[\]]*)(?::(\d*))?$/;
const SESSIONS: ReadonlySet<string> = new Set(['any', 'read-write', 'primary'] satisfies TargetSession[]);
/** Parameters of libpq that this module implements; `pg` would send or ignore them. */
const OWN_PARAMETERS = ['target_session_attrs', 'connect_timeout', 'host', 'port'] as const;
const MAX_CONNECT_TIMEOUT_SECONDS = 300;

/**
 * Parses a connection URL of libpq (https://www.postgresql.org/docs/current/libpq-connect.html), which may name several
 * servers: `postgres://user:password@first:5432,second:5432/svc?target_session_attrs=read-write`. Unlike libpq,
 * `target_session_attrs` defaults to `read-write` if there are several. Throws DATABASE_URL_INVALID.
 */
export function parsePostgresUrl(url: string): PostgresUrl {
  const [, scheme, authority = '', path = '', query = ''] = URL_PARTS.exec(url) ?? [];
  if (scheme === undefined) throw invalid('write postgres://user:password@host:port/database');
  const at = authority.lastIndexOf('@') + 1;
  const parameters = new URLSearchParams(query);
  const hosts = hostsFrom(authority.slice(at), parameters);
  const targetSession = targetSessionFrom(parameters, hosts.length);
  const connectTimeoutMs = connectTimeoutFrom(parameters);
  for (const name of OWN_PARAMETERS) parameters.delete(name);
  const prefix = `${scheme}${authority.slice(0, at)}`;
  const addresses = hosts.map((host) => ({
    name: nameOf(host),
    connectionString: join(prefix, host, path, parameters),
  }));
  for (const { connectionString } of addresses) {
    // A socket's folder has no authority, which `pg` accepts beyond the standard.
    if (!connectionString.includes('@/') && !URL.canParse(connectionString)) throw invalid('it cannot be parsed');
  }
  return { addresses, targetSession, connectTimeoutMs, name: `${scheme}${hosts.map(nameOf).join(',')}${path}` };
}

interface Host {
  /** A name, an address, or the folder of a Unix socket; empty for the default of `pg`. */
  readonly host: string;
  readonly port: string;
}

/** `host` and `port` of the query replace those of the authority, as in libpq. */
function hostsFrom(authority: string, parameters: URLSearchParams): Host[] {
  const named = parameters.get('host');
  if (named === null) return authority.split(',').map(parseHost);
  const hosts = named.split(',');
  const ports = (parameters.get('port') ?? '').split(',');
  if (ports.length !== 1 && ports.length !== hosts.length) throw invalid('the numbers of hosts and ports differ');
  return hosts.map((host, index) => ({ host, port: checkPort(ports[ports.length === 1 ? 0 : index] ?? '') }));
}

function parseHost(text: string): Host {
  const [matched, host = '', port = ''] = HOST_AND_PORT.exec(text) ?? [];
  if (matched === undefined) throw invalid('each host must be a name, an IPv4 address, or an IPv6 address in brackets');
  return { host: decodeHost(host), port: checkPort(port) };
}

function decodeHost(host: string): string {
  try {
    return decodeURIComponent(host);
  } catch {
    throw invalid('a host has a % that is no escape of UTF-8');
  }
}

function checkPort(port: string): string {
  if (port !== '' && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)) {
    throw invalid('each port must be a number from 1 to 65535');
  }
  return port;
}

function targetSessionFrom(parameters: URLSearchParams, hosts: number): TargetSession {
  const wanted = parameters.get('target_session_attrs') ?? (hosts > 1 ? 'read-write' : 'any');
  if (!SESSIONS.has(wanted)) {
    throw invalid('target_session_attrs must be read-write, primary or any, since the platform writes');
  }
  return wanted as TargetSession; // checked
}

function connectTimeoutFrom(parameters: URLSearchParams): number | null {
  const text = parameters.get('connect_timeout');
  if (text === null) return null;
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > MAX_CONNECT_TIMEOUT_SECONDS) {
    throw invalid(`connect_timeout must be a whole number of seconds from 1 to ${MAX_CONNECT_TIMEOUT_SECONDS}`);
  }
  return seconds * 1_000;
}

function nameOf({ host, port }: Host): string {
  return port === '' ? host : `${host}:${port}`;
}

function join(prefix: string, { host, port }: Host, path: string, parameters: URLSearchParams): string {
  const query = new URLSearchParams(parameters);
  const isSocket = host.startsWith('/');
  if (isSocket) {
    query.set('host', host);
    if (port !== '') query.set('port', port);
  }
  const authority = isSocket ? '' : nameOf({ host, port });
  const text = query.size === 0 ? '' : `?${query.toString()}`;
  return `${prefix}${authority}${path === '' ? '/' : path}${text}`;
}

function invalid(reason: string): Error {
  return sqlErrors.DATABASE_URL_INVALID({ details: { reason } });
}
