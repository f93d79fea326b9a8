import type { IncomingMessage, ServerResponse } from 'node:http';
import { PLATFORM_COOKIES, serializeCookie, type AuditLog, type HeldRights } from '@svc/access';
import { toAppError } from '@svc/errors';
import {
  isPlain,
  relayPlain,
  relayRequest,
  relayUpgrade,
  renderNestedError,
  resolveRequestId,
  whenClosed,
  type ClientOfRequest,
  type Forwarding,
  type RelayTarget,
  type UpgradeRoute,
} from '@svc/http';
import { joinStreams } from '@svc/mux';
import { KUBERNETES_SERVICE, type TunnelRequest } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import { isClusterId } from '../../domain/identifiers.ts';
import { clusterErrors } from '../../errors.ts';
import type { AgentTunnel } from '../../adapters/tunnel/agent-tunnel.ts';
import type { AgentTunnels } from '../../adapters/tunnel/agent-tunnels.ts';
import { answeredHeaders, forwardedHeaders, isDroppedTrailer, type ForwardedRequest } from './forwarded-headers.ts';
import { ownedTunnel } from '../owned.ts';
import type { TunnelAccess, TunnelCaller } from './tunnel-access.ts';
import { serviceHost, parseTunnelAddress, type TunnelAddress } from './tunnel-address.ts';
import { TUNNEL_PARAMETER } from './tunnel-cookie.ts';
import { offlineError, toTunnelError } from '../../adapters/tunnel/tunnel-errors.ts';
import type { TunnelStore } from '../../domain/tunnel.ts';

export interface TunnelFrontOptions {
  tunnels: AgentTunnels;
  access: TunnelAccess;
  /** Ends long-running requests within seconds of losing the right to them. */
  rights: HeldRights;
  /** Passes requests to the replica with the tunnel. */
  forwarding: Forwarding;
  store: TunnelStore;
  audit: AuditLog;
  clock: Clock;
  domain: string;
  answerTimeoutMs: number;
  /** Tells whether a proxy in front serves the callers over TLS. */
  clientOf: ClientOfRequest;
  /** True if a TLS proxy is in front of the platform. */
  isBehindTls: () => boolean;
  onError: (error: unknown, context: Record<string, unknown>) => void;
}

const UPGRADE_TIMEOUT_MS = 30_000;
const LINK_COOKIE_SECONDS = 12 * 3600;
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

interface Admitted {
  caller: TunnelCaller;
  service: string;
  address: TunnelAddress;
}

interface Decided {
  caller: TunnelCaller;
  tunnel: AgentTunnel;
  stream: TunnelRequest;
  forwarded: ForwardedRequest;
}

/** HTTP through tunnels, on a cluster's own host or below the platform's paths. */
export class TunnelFront {
  readonly #options: TunnelFrontOptions;
  readonly #requests = new WeakSet<IncomingMessage>();

  constructor(options: TunnelFrontOptions) {
    this.#options = options;
  }

  /**
   * Takes the request if it is for a tunnel. Call it before any other handler: on such a host, every path belongs to
   * the service.
   */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const address = parseTunnelAddress(request, this.#options.domain);
    if (address === null) return false;
    this.#requests.add(request);
    this.#serve(request, response, address).catch((error: unknown) => this.#refuse(request, response, error));
    return true;
  }

  /** True if the request's body has no time limit. */
  owns(request: IncomingMessage): boolean {
    return this.#requests.has(request);
  }

  upgradeRoute(): UpgradeRoute {
    const { domain } = this.#options;
    return {
      name: 'tunnel',
      hold: 'required',
      forwards: true,
      matches: (request) => parseTunnelAddress(request, domain) !== null,
      render: renderNestedError,
      handle: async ({ request, socket, head, hold, forward }) => {
        const address = parseTunnelAddress(request, domain);
        if (address === null) return;
        const admitted = await this.#admit(request, address);
        const { right, granted, cluster } = admitted.caller;
        const held = hold(right);
        if (await forward(ownedTunnel(cluster), granted)) return;
        const decided = await this.#decide(request, admitted);
        const agent = decided.tunnel.connectionsFor(decided.stream);
        const target = { ...this.#createTarget(decided, UPGRADE_TIMEOUT_MS), agent };
        held.farewell(({ status }) => {
          this.#record(decided, status);
          socket.destroy(); // only the service could close it properly
        });
        try {
          await relayUpgrade({ request, socket, head }, target, joinStreams);
        } catch (error) {
          throw toTunnelError(error, namesOf(decided));
        }
      },
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse, address: TunnelAddress): Promise<void> {
    if (this.#movePage(request, response, address)) return;
    if (await this.#answerLink(request, response, address)) return;
    const admitted = await this.#admit(request, address);
    request.socket.setTimeout(0); // a watch may be silent for an hour; the agent's liveness check ends dead ones
    if (await this.#forward(admitted, request, response)) return;
    const decided = await this.#decide(request, admitted);
    const target = this.#createTarget(decided, this.#options.answerTimeoutMs);
    const { tunnel, stream } = decided;
    this.#hold(decided, response);
    try {
      if (isPlain(request)) {
        await relayPlain(request, response, { ...target, connections: tunnel.plainConnectionsFor(stream) });
      } else await relayRequest(request, response, { ...target, agent: tunnel.connectionsFor(stream) });
    } catch (error) {
      throw toTunnelError(error, namesOf(decided));
    }
  }

  /**
   * Redirects a browser to the service's own host: on the cluster's host, all services would share one origin. Uses
   * only the address, so it needs no authorization.
   */
  #movePage(request: IncomingMessage, response: ServerResponse, address: TunnelAddress): boolean {
    const { method, headers } = request;
    const { form, cluster, service, path } = address;
    if (form !== 'host' || service === null || service === KUBERNETES_SERVICE || !isClusterId(cluster)) return false;
    const isPage = headers['sec-fetch-mode'] === 'navigate' || path.includes(`${TUNNEL_PARAMETER}=`);
    if (method !== 'GET' || !isPage) return false;
    const port = /:\d+$/.exec(headers.host ?? '')?.[0] ?? '';
    const host = serviceHost(cluster, service, this.#options.domain);
    response.writeHead(308, {
      location: `${this.#protocolOf(request)}://${host}${port}${path}`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-length': '0',
    });
    response.end();
    return true;
  }

  /** Turns `?svc_tunnel=…` into a cookie and redirects, so that the token stays out of the address bar and history. */
  async #answerLink(request: IncomingMessage, response: ServerResponse, address: TunnelAddress): Promise<boolean> {
    if (address.form !== 'service' || !address.path.includes(`${TUNNEL_PARAMETER}=`)) return false;
    const url = URL.parse(`http://host${address.path}`);
    if (url === null) return false;
    const token = url.searchParams.get(TUNNEL_PARAMETER);
    if (token === null || request.method !== 'GET') return false;
    const caller = await this.#options.access.authorizeLink(token, address);
    if (caller === null) throw clusterErrors.UNAUTHORIZED();
    url.searchParams.delete(TUNNEL_PARAMETER);
    const isSecure = this.#protocolOf(request) === 'https';
    // Alone, a path that begins with two slashes would name another host.
    const stays = url.pathname.startsWith('//') ? '/.' : '';
    response.writeHead(303, {
      location: `${stays}${url.pathname}${url.search}`,
      'set-cookie': serializeCookie(PLATFORM_COOKIES.tunnel, token, { maxAgeSeconds: LINK_COOKIE_SECONDS, isSecure }),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-length': '0',
    });
    response.end();
    return true;
  }

  async #admit(request: IncomingMessage, address: TunnelAddress): Promise<Admitted> {
    const { access, clientOf } = this.#options;
    const isSecure = this.#protocolOf(request) === 'https';
    const caller = await access.authorize(request, address, { ...clientOf(request), isSecure });
    if (caller.via === 'link') requireOwnOrigin(request);
    const service = caller.service ?? address.service;
    if (service !== null) return { caller, service, address };
    const { name: cluster } = caller.cluster;
    throw clusterErrors.FORWARD_NOT_FOUND({ details: { cluster, service: 'such service' } });
  }

  /** The replica with the tunnel records what it answers. */
  async #forward({ caller }: Admitted, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { forwarding, rights, clientOf } = this.#options;
    const { cluster, granted, right } = caller;
    const release = rights.hold(right, () => response.destroy());
    try {
      const requestId = resolveRequestId(request.headers);
      const forwarded = { owned: ownedTunnel(cluster), granted, requestId, client: clientOf(request) };
      return await forwarding.forwardRequest({ request, response }, forwarded);
    } finally {
      release();
    }
  }

  async #decide(request: IncomingMessage, { caller, service, address }: Admitted): Promise<Decided> {
    const { tunnels } = this.#options;
    const { cluster, principal, role } = caller;
    const tunnel = tunnels.find(cluster.id);
    if (tunnel === undefined) throw await this.#offline(cluster);
    const { remoteAddress } = this.#options.clientOf(request);
    const forwarded = { request, address, caller, remoteAddress, protocol: this.#protocolOf(request) };
    return { caller, tunnel, stream: { service, user: `svc:user:${principal.id}`, role }, forwarded };
  }

  #hold(decided: Decided, response: ServerResponse): void {
    const release = this.#options.rights.hold(decided.caller.right, ({ status }) => {
      this.#record(decided, status);
      response.destroy();
    });
    whenClosed(response, release);
  }

  /** An agent has one tunnel, to one replica. The other replicas name it instead of reporting the agent as offline. */
  async #offline({ id, name }: TunnelCaller['cluster']): Promise<Error> {
    return offlineError(this.#options, id, name);
  }

  #createTarget(decided: Decided, timeoutMs: number): Omit<RelayTarget, 'agent'> {
    const { forwarded } = decided;
    const { request, address } = forwarded;
    const isChange = !SAFE.has(request.method ?? '') || request.headers.upgrade !== undefined;
    return {
      path: address.path,
      headers: forwardedHeaders(forwarded),
      dropsTrailer: isDroppedTrailer,
      timeoutMs,
      answerHeaders: (headers) => answeredHeaders(headers, forwarded),
      ...(isChange ? { onAnswer: (status: number) => this.#record(decided, status) } : {}),
    };
  }

  #record({ caller, stream, forwarded: { request, address } }: Decided, status: number): void {
    const { audit, onError } = this.#options;
    const path = (address.path.split('?', 1)[0] ?? '').slice(0, 512);
    audit
      .record({
        principal: caller.principal,
        action: 'tunnel:use',
        resource: `cluster/${caller.cluster.name}/${stream.service}`,
        workspaceUuid: caller.cluster.workspaceUuid,
        outcome: status < 400 ? 'success' : status < 500 ? 'refused' : 'failed',
        status,
        remoteAddress: this.#options.clientOf(request).remoteAddress,
        requestId: resolveRequestId(request.headers),
        details: { method: request.method ?? '', path },
      })
      .catch((error: unknown) => onError(error, { cluster: caller.cluster.id }));
  }

  #protocolOf(request: IncomingMessage): 'http' | 'https' {
    return this.#options.clientOf(request).isSecure || this.#options.isBehindTls() ? 'https' : 'http';
  }

  #refuse(request: IncomingMessage, response: ServerResponse, raw: unknown): void {
    const error = toAppError(raw);
    if (error.code === 'internal_error') this.#options.onError(error.cause ?? error, { part: 'tunnel' });
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const requestId = resolveRequestId(request.headers);
    const body = JSON.stringify(renderNestedError(error, requestId));
    response.writeHead(error.status, {
      ...error.headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'x-request-id': requestId,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      ...(request.complete ? {} : { connection: 'close' }), // the rest of the body is not read
    });
    response.end(body);
  }
}

function namesOf({ caller, stream }: Decided): { cluster: string; service: string } {
  return { cluster: caller.cluster.name, service: stream.service };
}

/**
 * With a cookie, a foreign page could act too: requests that change state or open a WebSocket must come from the
 * service's own page. Pages of other services are same-site, so browsers send the cookie with their requests: any page
 * may navigate to the service, but only its own pages may load its resources.
 */
function requireOwnOrigin({ method, headers }: IncomingMessage): void {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = headers;
  const isTaken = mode !== 'navigate' && (site === 'same-site' || site === 'cross-site');
  const isHarmless = SAFE.has(method ?? '') && headers.upgrade === undefined;
  const isOwn = isHarmless || origin === undefined || URL.parse(origin)?.host === headers.host;
  if (isOwn && !isTaken) return;
  throw clusterErrors.FORBIDDEN({ details: { field: 'Origin', reason: 'the request comes from another site' } });
}
