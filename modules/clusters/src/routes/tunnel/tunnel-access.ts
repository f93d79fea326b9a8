import type { IncomingMessage } from 'node:http';
import {
  confirmAccess,
  cookieValues,
  createGrantedAccess,
  createGrantedRight,
  narrowRight,
  PLATFORM_COOKIES,
  type Access,
  type GrantedAccess,
  type HeldRight,
  type Principal,
} from '@svc/access';
import { isAppError } from '@svc/errors';
import type { RequestClient } from '@svc/http';
import { KUBERNETES_SERVICE } from '@svc/protocol';
import { RecentResults, type Clock } from '@svc/runtime';
import type { Cluster, ClusterStore } from '../../domain/cluster.ts';
import { sha256 } from '../../domain/identifiers.ts';
import { clusterErrors } from '../../errors.ts';
import { serviceLabel, type TunnelAddress } from './tunnel-address.ts';
import type { TunnelStore } from '../../domain/tunnel.ts';

/** The user of a tunnel, and its cluster. */
export interface TunnelCaller {
  principal: Principal;
  role: string;
  cluster: Cluster;
  /** `link`: a browser's cookie; `Authorization` then belongs to the service, not to the platform. */
  via: 'token' | 'link';
  /** The service that a link is for, whose host may contain only a hash of its name; null without a link. */
  service: string | null;
  /** Held until everything the caller opened is closed. */
  right: HeldRight;
  /** The access behind the right, for the replica with the tunnel. */
  granted: GrantedAccess;
}

export interface TunnelAccessOptions {
  access: Access;
  clusters: ClusterStore;
  store: TunnelStore;
  clock: Clock;
}

type Asked = Pick<TunnelAddress, 'form' | 'cluster' | 'service' | 'teamUuid'>;

/** A page loads dozens of files at once. Whatever a remembered decision opens is rechecked within a second of it. */
const REMEMBERED_MS = 1000;
const MAX_REMEMBERED = 10_000;
const CLUSTER_ID = /^cls-/;

/** Authorizes every use of a tunnel. Throws 401, 403, and 404 for clusters of others. */
export class TunnelAccess {
  readonly #options: TunnelAccessOptions;
  readonly #remembered: RecentResults<TunnelCaller>;

  constructor(options: TunnelAccessOptions) {
    this.#options = options;
    this.#remembered = new RecentResults({
      maxAgeMs: REMEMBERED_MS,
      maxEntries: MAX_REMEMBERED,
      nowMs: () => options.clock.nowMs(),
    });
  }

  /** Whether the caller came over TLS decides which cookie counts. */
  authorize(request: IncomingMessage, asked: Asked, client: RequestClient): Promise<TunnelCaller> {
    const { authorization = '' } = request.headers;
    const { isSecure } = client;
    // Only a service's own host accepts cookies: a page of one service must not act on another.
    const [cookie = null] =
      asked.form === 'service' ? cookieValues(request.headers.cookie, PLATFORM_COOKIES.tunnel, isSecure) : [];
    const { form, cluster, service, teamUuid } = asked;
    const key = sha256(JSON.stringify([authorization, cookie, form, cluster, service, teamUuid]));
    return this.#remembered.get(key, () => this.#decide(request, asked, { cookie, client }));
  }

  /** Returns the creator of a link if the link is for this service and its creator still has access. */
  async authorizeLink(token: string, asked: Asked): Promise<TunnelCaller | null> {
    const { store, clusters, clock, access } = this.#options;
    const now = clock.now();
    const hash = sha256(token);
    const link = await store.findLink(hash, now.toISOString());
    if (link === undefined || link.clusterId !== asked.cluster || serviceLabel(link.service) !== asked.service) {
      return null;
    }
    if (link.service === KUBERNETES_SERVICE) return null;
    const cluster = await clusters.findById(link.clusterId);
    const principal = await this.#confirmCreator(link.granted);
    if (cluster === undefined || principal === null) return null;
    const right = narrowRight(createGrantedRight(access, link.granted, now.getTime()), hash, async () => {
      const kept = await store.findLink(hash, clock.now().toISOString());
      if (kept === undefined) throw clusterErrors.UNAUTHORIZED();
    });
    const role = link.granted.grant?.role ?? '';
    return { principal, role, cluster, via: 'link', service: link.service, right, granted: link.granted };
  }

  /** Null if the creator's credential was revoked or the creator has lost access. */
  async #confirmCreator(granted: GrantedAccess): Promise<Principal | null> {
    try {
      return await confirmAccess(this.#options.access, granted);
    } catch (error) {
      if (isAppError(error) && error.status < 500) return null;
      throw error;
    }
  }

  async #decide(
    request: IncomingMessage,
    asked: Asked,
    { cookie, client }: { cookie: string | null; client: RequestClient },
  ): Promise<TunnelCaller> {
    if (cookie !== null) {
      const caller = await this.authorizeLink(cookie, asked);
      if (caller !== null) return caller;
    }
    const { access, clusters, clock } = this.#options;
    const { authorization } = request.headers;
    if (authorization === undefined) throw clusterErrors.UNAUTHORIZED({ headers: { 'www-authenticate': 'Bearer' } });
    const shownAt = clock.now();
    // Only the header: a page behind a tunnel must never act with the platform's session cookie.
    const principal = await access.authenticate({
      headers: { authorization },
      method: request.method ?? 'GET',
      ...client,
    });
    const byId = CLUSTER_ID.test(asked.cluster) ? await clusters.findById(asked.cluster) : undefined;
    const grant = await this.#grant(principal, byId?.workspaceUuid, asked.teamUuid, asked.cluster);
    const cluster = byId ?? (await clusters.find(grant.workspaceUuid, asked.cluster));
    if (cluster === undefined) throw clusterErrors.CLUSTER_NOT_FOUND({ details: { cluster: asked.cluster } });
    const granted = createGrantedAccess(principal, shownAt, 'tunnel:use', grant);
    const right = rightToCluster(createGrantedRight(access, granted, shownAt.getTime()), clusters, cluster);
    return { principal, role: grant.role, cluster, via: 'token', service: null, right, granted };
  }

  async #grant(
    principal: Principal,
    workspaceUuid: string | undefined,
    teamUuid: string | null,
    cluster: string,
  ): ReturnType<Access['authorize']> {
    try {
      return await this.#options.access.authorize({
        principal,
        action: 'tunnel:use',
        workspaceUuid,
        ...(teamUuid === null ? {} : { teamUuid }),
      });
    } catch (error) {
      // Another workspace's cluster and a missing one get the same response.
      if (isAppError(error) && error.status === 404) throw clusterErrors.CLUSTER_NOT_FOUND({ details: { cluster } });
      throw error;
    }
  }
}

/** Narrows a right so that it also ends when the cluster is deleted. */
export function rightToCluster(right: HeldRight, clusters: ClusterStore, { id, name }: Cluster): HeldRight {
  return narrowRight(right, id, async () => {
    if ((await clusters.findById(id)) === undefined) {
      throw clusterErrors.CLUSTER_NOT_FOUND({ details: { cluster: name } });
    }
  });
}
