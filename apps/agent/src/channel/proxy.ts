import { Agent, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { BlockList, isIP, Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { DialTimeout } from '@svc/link';

/**
 * True if the host bypasses the proxy: matches `*`, `name`, `.suffix`, an address or a block, each with or without a
 * port.
 */
export function bypassesProxy(host: string, port: string, noProxy: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return noProxy
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const { wanted, wantedPort } = splitEntry(entry.toLowerCase());
      if (wantedPort !== undefined && wantedPort !== port) return false;
      if (isIP(name) !== 0) return coversAddress(wanted, name);
      const suffix = wanted.replace(/^\*?\./, '.');
      return suffix.startsWith('.')
        ? name.endsWith(suffix) || name === suffix.slice(1)
        : name === suffix || name.endsWith(`.${suffix}`);
    });
}

/** `name:port`, `[::1]:port`; an IPv6 address without brackets has no port. */
function splitEntry(entry: string): { wanted: string; wantedPort: string | undefined } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  return { wanted: bracketed ?? plain ?? entry, wantedPort: port };
}

/** An address, or a block such as `10.0.0.0/8` (RFC 4632). */
function coversAddress(entry: string, address: string): boolean {
  const [network = '', length] = entry.split('/', 2);
  const family = isIP(network);
  if (family === 0) return false;
  const most = family === 4 ? 32 : 128;
  const bits = length === undefined ? most : Number(length);
  if (!Number.isInteger(bits) || bits < 0 || bits > most) return false;
  const block = new BlockList();
  block.addSubnet(network, bits, family === 4 ? 'ipv4' : 'ipv6');
  return block.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

/** An agent that connects through an HTTP proxy with `CONNECT` (RFC 9110, 9.3.6), with TLS to the target inside. */
export function proxyAgent(proxy: URL, secureTarget: boolean, tls: ConnectionOptions, timeoutMs: number): Agent {
  return new ConnectAgent(proxy, secureTarget, tls, timeoutMs);
}

class ConnectAgent extends Agent {
  readonly #proxy: URL;
  readonly #secureTarget: boolean;
  readonly #tls: ConnectionOptions;
  readonly #timeoutMs: number;

  constructor(proxy: URL, secureTarget: boolean, tls: ConnectionOptions, timeoutMs: number) {
    super({ keepAlive: false });
    // `https.request` checks this property of the agent.
    Object.assign(this, { protocol: secureTarget ? 'https:' : 'http:' });
    this.#proxy = proxy;
    this.#secureTarget = secureTarget;
    this.#tls = tls;
    this.#timeoutMs = timeoutMs;
  }

  override createConnection(
    options: { host?: string | null; port?: number | string | null },
    callback?: (error: Error | null, stream: Socket) => void,
  ): undefined {
    const host = options.host ?? '';
    const port = String(options.port ?? (this.#secureTarget ? 443 : 80));
    const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    openTunnel(this.#proxy, target, this.#timeoutMs, (error, socket) => {
      if (error !== null || !this.#secureTarget) {
        callback?.(error, socket);
        return;
      }
      const name = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
      const secured = connectTls({ ...this.#tls, ...name, socket, host });
      // The TLS handshake needs its own timeout: the request's starts only when it gets the socket.
      secured.setTimeout(this.#timeoutMs, () => secured.destroy(new DialTimeout('the TLS handshake', this.#timeoutMs)));
      secured.once('secureConnect', () => {
        secured.setTimeout(0);
        callback?.(null, secured);
      });
      secured.once('error', (failure) => callback?.(failure, secured));
    });
    return undefined;
  }
}

/** Uses callbacks because an agent's `createConnection` does. On error, the socket is destroyed. */
function openTunnel(
  proxy: URL,
  target: string,
  timeoutMs: number,
  done: (error: Error | null, socket: Socket) => void,
): void {
  const send = proxy.protocol === 'https:' ? secureRequest : request;
  const outgoing = send({
    method: 'CONNECT',
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port === '' ? (proxy.protocol === 'https:' ? 443 : 80) : proxy.port,
    path: target,
    agent: false,
    timeout: timeoutMs,
    headers: { host: target, ...credentialsOf(proxy) },
  });
  outgoing.once('timeout', () => outgoing.destroy(new DialTimeout('the proxy', timeoutMs)));
  outgoing.once('error', (error) => done(error, new Socket()));
  outgoing.once('connect', (response, socket) => {
    if (response.statusCode === 200) {
      done(null, socket);
      return;
    }
    socket.destroy();
    done(new Error(`the proxy refused with ${response.statusCode}`), socket);
  });
  outgoing.end();
}

function credentialsOf(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  const text = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(text).toString('base64')}` };
}
