import type { IncomingMessage } from 'node:http';
import { isAppError } from '@svc/errors';
import { isOnlyExpired, type Access, type Principal } from '@svc/http';
import { KUBERNETES_SERVICE } from '@svc/protocol';
import type { Clock } from '../domain/clock.ts';
import type { Cluster, ClusterStore } from '../domain/cluster.ts';
import { sha256 } from '../domain/identifiers.ts';
import { clusterErrors } from '../errors.ts';
import type { TunnelAddress } from './tunnel-address.ts';
import { tunnelCookieOf } from './tunnel-cookie.ts';
import type { TunnelStore } from '../domain/tunnel.ts';

/** Who uses a tunnel, and of which cluster. */
export interface TunnelCaller {
  principal: Principal;
  role: string;
  cluster: Cluster;
  /** `link`: a browser's cookie; then `Authorization` is the service's own and not the platform's. */
  via: 'token' | 'link';
}

export interface TunnelAccessOptions {
  access: Access;
  clusters: ClusterStore;
  store: TunnelStore;
  clock: Clock;
}

type Asked = Pick<TunnelAddress, 'form' | 'cluster' | 'service' | 'teamUuid'>;

/** A page loads dozens of files at once; a right that was taken away is gone after this time. */
const REMEMBERED_MS = 2000;
const MAX_REMEMBERED = 10_000;
const CLUSTER_ID = /^cls-/;

/** Decides for every use of a tunnel. Throws 401, 403, and 404 for what is not the caller's. */
export class TunnelAccess {
  readonly #options: TunnelAccessOptions;
  readonly #remembered = new Map<string, { caller: TunnelCaller; untilMs: number }>();

  constructor(options: TunnelAccessOptions) {
    this.#options = options;
  }

  async authorize(request: IncomingMessage, asked: Asked): Promise<TunnelCaller> {
    const { authorization = '' } = request.headers;
    const cookie = asked.form === 'host' ? tunnelCookieOf(request.headers.cookie) : null;
    const nowMs = this.#options.clock.nowMs();
    const key = sha256(JSON.stringify([authorization, cookie, asked.cluster, asked.service, asked.teamUuid]));
    const remembered = this.#remembered.get(key);
    if (remembered !== undefined && remembered.untilMs > nowMs) return remembered.caller;
    const caller = await this.#decide(request, asked, cookie);
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(key, { caller, untilMs: nowMs + REMEMBERED_MS });
    return caller;
  }

  /** For a connection that goes on: throws once it would not begin in the same way any more. */
  async assertStill(request: IncomingMessage, asked: Asked, caller: TunnelCaller): Promise<void> {
    let role: string;
    try {
      ({ role } = await this.authorize(request, asked));
    } catch (error) {
      if (!isOnlyExpired(error, caller.principal)) throw error;
      const { id, workspaceUuid } = caller.cluster;
      ({ role } = await this.#roleOf(caller.principal, workspaceUuid, asked.teamUuid, id));
    }
    if (role === caller.role) return;
    throw clusterErrors.FORBIDDEN({ details: { reason: 'the role has changed' } });
  }

  /** For a link in an address: who made it, if it is for this very service. */
  async authorizeLink(token: string, asked: Asked): Promise<TunnelCaller | null> {
    const { store, clusters, clock } = this.#options;
    const link = await store.findLink(sha256(token), clock.now().toISOString());
    if (link === undefined || link.clusterId !== asked.cluster || link.service !== asked.service) return null;
    if (link.service === KUBERNETES_SERVICE) return null;
    const cluster = await clusters.findById(link.clusterId);
    if (cluster === undefined) return null;
    const role = await this.#roleOf(link.principal, cluster.workspaceUuid, link.teamUuid, cluster.id);
    return { principal: link.principal, role: role.role, cluster, via: 'link' };
  }

  async #decide(request: IncomingMessage, asked: Asked, cookie: string | null): Promise<TunnelCaller> {
    if (cookie !== null) {
      const caller = await this.authorizeLink(cookie, asked);
      if (caller !== null) return caller;
    }
    const { access, clusters } = this.#options;
    const { authorization } = request.headers;
    if (authorization === undefined) throw clusterErrors.UNAUTHORIZED({ headers: { 'www-authenticate': 'Bearer' } });
    // Only the header: a page behind a tunnel must never act with the session cookie of the platform.
    const principal = await access.authenticate({
      headers: { authorization },
      method: request.method ?? 'GET',
      remoteAddress: request.socket.remoteAddress ?? '',
    });
    const byId = CLUSTER_ID.test(asked.cluster) ? await clusters.findById(asked.cluster) : undefined;
    const grant = await this.#roleOf(principal, byId?.workspaceUuid, asked.teamUuid, asked.cluster);
    const cluster = byId ?? (await clusters.find(grant.workspaceUuid, asked.cluster));
    if (cluster === undefined) throw clusterErrors.CLUSTER_NOT_FOUND({ details: { cluster: asked.cluster } });
    return { principal, role: grant.role, cluster, via: 'token' };
  }

  async #roleOf(
    principal: Principal,
    workspaceUuid: string | undefined,
    teamUuid: string | null,
    cluster: string,
  ): Promise<{ role: string; workspaceUuid: string }> {
    try {
      return await this.#options.access.authorize({
        principal,
        action: 'tunnel:use',
        workspaceUuid,
        ...(teamUuid === null ? {} : { teamUuid }),
      });
    } catch (error) {
      // A foreign cluster and one that is not there are the same answer.
      if (isAppError(error) && error.status === 404) throw clusterErrors.CLUSTER_NOT_FOUND({ details: { cluster } });
      throw error;
    }
  }
}
