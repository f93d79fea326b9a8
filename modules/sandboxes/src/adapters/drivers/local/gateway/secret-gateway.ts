import { createServer as createPlainServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket, type SecureContext } from 'node:tls';
import { TokenBucket } from '@svc/runtime';
import { egressHost } from '../../../../domain/egress-hosts.ts';
import type { EgressAuthority, LiveEgressRule, LiveEgressRules } from '../../../../domain/egress-rules/egress-rule.ts';
import { HostCertificates, type IssueCertificate } from './host-certificates.ts';
import { refuseRequest, refuseUpgrade, type GatewayRefusal } from './refusals.ts';
import { fingerprint, injectionFor, rulesFor, type Injection, type Refusal } from './secret-injection.ts';
import { sendRequest, sendUpgrade, UpstreamConnections, type Destination } from './send-upstream.ts';

const MAX_CONNECTIONS = 128;
/** Handshakes and requests of one sandbox: each costs the platform up to a millisecond. */
const RATE = { perMinute: 100 * 60, burst: 300 };
const MAX_HEADER_BYTES = 64 * 1024;
const HANDSHAKE_MS = 10_000;
/** Long polls and slow models are silent for minutes. */
const IDLE_MS = 15 * 60_000;
const KEPT_MS = 60_000;

export interface SecretGatewayOptions extends Omit<LiveEgressRules, 'workspaceUuid'> {
  /** Whether the sandbox's allowlist has the host, or it has none. */
  readonly isAllowed: (host: string) => boolean;
  readonly issue: IssueCertificate;
  readonly lookup: LookupFunction;
  readonly nowMs: () => number;
  /** Ports of the hosts; the usual ones by default. */
  readonly ports?: { readonly secure: number; readonly plain: number };
}

interface Target {
  readonly host: string;
  readonly fingerprint: string;
}

/**
 * Ends the connections of one sandbox to the hosts of its rules, adds the secrets, and sends the requests on. It takes
 * accepted sockets and listens nowhere. Its authority and its secrets exist in the memory of this process only.
 */
export class SecretGateway {
  readonly #options: SecretGatewayOptions;
  readonly #certificates: HostCertificates;
  readonly #secure: Server;
  readonly #plain: Server;
  readonly #connections = new UpstreamConnections();
  readonly #sockets = new Set<Socket>();
  /** What each connection was used for first. It serves no other host. */
  readonly #targets = new Map<Duplex, Target>();
  readonly #rate: TokenBucket;
  #rules: readonly LiveEgressRule[];

  constructor(options: SecretGatewayOptions) {
    this.#options = options;
    this.#rules = options.rules;
    this.#rate = new TokenBucket(RATE, options.nowMs());
    this.#certificates = new HostCertificates(options.authority, options.issue, options.nowMs);
    const common = {
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEPT_MS,
      requestTimeout: 0, // uploads take their time; IDLE_MS applies
      shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
    };
    this.#secure = createSecureServer({
      ...common,
      ALPNProtocols: ['http/1.1'], // a client that offers only others is refused in the handshake
      handshakeTimeout: HANDSHAKE_MS,
      SNICallback: (name, reply) => this.#identify(name, reply),
    });
    this.#secure.on('tlsClientError', (_error, socket) => socket.destroy());
    this.#plain = createPlainServer(common);
    for (const server of [this.#secure, this.#plain]) {
      server.timeout = IDLE_MS;
      server.on('request', (request, response) => {
        const target = this.#admit(request);
        if ('refusal' in target) refuseRequest(response, target.refusal);
        else void sendRequest(request, response, target);
      });
      server.on('upgrade', (request, socket, head) => {
        const target = this.#admit(request);
        if ('refusal' in target) refuseUpgrade(socket, target.refusal);
        else void sendUpgrade(request, socket, head, target);
      });
      server.on('clientError', (_error, socket) => socket.destroy());
    }
  }

  get authority(): EgressAuthority {
    return this.#options.authority;
  }

  get connectionCount(): number {
    return this.#sockets.size;
  }

  get hosts(): readonly string[] {
    return this.#rules.map(({ host }) => host);
  }

  accept(socket: Socket, isSecure: boolean): void {
    if (this.#sockets.size >= MAX_CONNECTIONS || !this.#rate.take(this.#options.nowMs())) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    (isSecure ? this.#secure : this.#plain).emit('connection', socket);
  }

  /** Applies new rules. Ends the connections to hosts for which something else, or nothing, is added now. */
  update(rules: readonly LiveEgressRule[]): void {
    this.#rules = rules;
    for (const [socket, target] of this.#targets) {
      if (fingerprint(rules, target.host) !== target.fingerprint) socket.destroy();
    }
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#rules = [];
    this.cut();
    this.#secure.close();
    this.#plain.close();
  }

  /** Only hosts with a rule have a certificate, so connections to others fail in the handshake. */
  #identify(name: string, reply: (error: Error | null, context?: SecureContext) => void): void {
    const host = hostOf(name);
    if (host === null || this.#refusal(host) !== null) {
      reply(new Error('no rule names this host'));
      return;
    }
    this.#certificates.contextFor(host).then(
      (context) => reply(null, context),
      (error: unknown) => reply(error instanceof Error ? error : new Error(String(error))),
    );
  }

  #refusal(host: string): Refusal | null {
    const isRuled = rulesFor(this.#rules, host).length > 0;
    return isRuled && this.#options.isAllowed(host) ? null : 'no_rule';
  }

  /**
   * The host is the one that the handshake named, and `Host` must repeat it: behind a shared front, another one would
   * choose who gets the secret.
   */
  #admit(request: IncomingMessage): Destination | { readonly refusal: GatewayRefusal } {
    if (!this.#rate.take(this.#options.nowMs())) return { refusal: 'rate' };
    const { socket } = request;
    const isSecure = socket instanceof TLSSocket;
    const named = hostOf(withoutPort(request.headers.host ?? '', isSecure ? ':443' : ':80'));
    const host = isSecure ? serverNameOf(socket) : named;
    if (host === null || named !== host) return { refusal: 'host' };
    if (request.method === 'TRACE' || request.url?.startsWith('/') !== true) return { refusal: 'target' };
    const refusal = this.#refusal(host);
    if (refusal !== null) return { refusal };
    const injection = injectionFor(this.#rules, host, isSecure);
    if ('refusal' in injection) return injection;
    if (!this.#hold(socket, host)) return { refusal: 'host' };
    return this.#destination(host, isSecure, injection);
  }

  /** Remembers the host of a connection. Returns false if it already serves another. */
  #hold(socket: Duplex, host: string): boolean {
    const known = this.#targets.get(socket);
    if (known !== undefined) return known.host === host;
    this.#targets.set(socket, { host, fingerprint: fingerprint(this.#rules, host) });
    socket.once('close', () => this.#targets.delete(socket));
    return true;
  }

  #destination(host: string, isSecure: boolean, injection: Injection): Destination {
    const { lookup, ports = { secure: 443, plain: 80 } } = this.#options;
    return {
      host,
      isSecure,
      injection,
      lookup,
      connections: this.#connections,
      port: isSecure ? ports.secure : ports.plain,
    };
  }
}

function serverNameOf(socket: TLSSocket): string | null {
  // Set by the handshake; the types know it on clients only.
  const { servername } = socket as TLSSocket & { servername?: string | false };
  return typeof servername === 'string' ? hostOf(servername) : null;
}

/** A hostname, normalized; null for anything else. */
function hostOf(name: string): string | null {
  return name.startsWith('*') ? null : egressHost(name);
}

function withoutPort(host: string, usualPort: string): string {
  return host.endsWith(usualPort) ? host.slice(0, -usualPort.length) : host;
}
