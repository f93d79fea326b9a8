import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GrantedAccess } from '@svc/access';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RequestClient } from './client-of-request.ts';
import { httpErrors } from './errors.ts';
import { grantedAccessOf } from './guard.ts';
import type { HttpApp } from './http-app.ts';
import type { RelayedUpgrade } from './relay/relay-upgrade.ts';

/** Something that one replica holds, so that only this replica can serve it. */
export interface Owned {
  /** Names the finder of the owner, such as `sandbox`. */
  readonly kind: string;
  readonly id: string;
  /** The workspace that it must belong to: whatever belongs to another one has no owner. */
  readonly workspaceUuid: string;
}

/** What another replica states about a request that it authorized and forwarded. */
export interface Hop {
  /** The replica that the client reached. */
  readonly replica: string;
  readonly owned: Owned;
  /** The access that replica granted; null on a route with a credential of its own. This replica authorizes again. */
  readonly granted: GrantedAccess | null;
  readonly client: RequestClient;
}

/** A request after its authorization. */
export interface Forwarded {
  readonly owned: Owned;
  /** Null for a route with a credential of its own, which the owner checks again. */
  readonly granted: GrantedAccess | null;
  readonly requestId: string;
  /** The client, as resolved through trusted proxies. */
  readonly client: RequestClient;
}

/**
 * Passes requests to the replica that holds what they need: once, never a second time. The `forward…` methods resolve to
 * false if the request stays here, because this replica or none is the owner, or because it was forwarded already. They
 * throw HOP_REFUSED if a forwarded request is for something other than its hop states, and REPLICA_UNREACHABLE or
 * REPLICA_LOST if the owner does not answer.
 */
export interface Forwarding {
  /** The verified hop of a request; null if the request came from a client. */
  hopOf(request: IncomingMessage): Hop | null;
  forwardRequest(exchange: ForwardedExchange, forwarded: Forwarded): Promise<boolean>;
  forwardUpgrade(upgrade: RelayedUpgrade, forwarded: Forwarded): Promise<boolean>;
  /**
   * Opens a connection to the owner for a client whose protocol is not HTTP. Null if this replica or none is the owner.
   * Throws what the owner answers instead, and REPLICA_UNREACHABLE.
   */
  connect(connection: OwnedConnection, forwarded: Forwarded): Promise<Duplex | null>;
}

/** A connection that a replica itself opens to another one. */
export interface OwnedConnection {
  /** Path and query of an upgrade route of the owner. */
  readonly path: string;
  /** Name of the protocol in the `Upgrade` header. */
  readonly protocol: string;
  /** Ends the attempt; an open connection stays. */
  readonly signal: AbortSignal;
}

/** A request and its response. */
export interface ForwardedExchange {
  readonly request: IncomingMessage;
  /** The whole body, where it was read to find the owner; otherwise nothing has read it. */
  readonly body?: () => Buffer;
  readonly response: ServerResponse;
  /** Called when the owner is another replica, before anything is sent to it. */
  readonly begin?: () => void;
  /** Headers to add to the response unless the owner sets them. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
}

/** One process, or no way between replicas: every request stays here. */
export const noForwarding: Forwarding = {
  hopOf: () => null,
  forwardRequest: async () => false,
  forwardUpgrade: async () => false,
  connect: async () => null,
};

/**
 * Finds the replica that holds this, or null. The workspace is part of the question, so that nothing reveals whether
 * another workspace's resource exists.
 */
export type FindOwner = (id: string, workspaceUuid: string) => Promise<string | null>;

/** How to find the owners of each kind. */
export type OwnerFinders = Readonly<Record<string, FindOwner>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * What only its owner can serve on this route. Requests reach the owner after the authorization and before their
     * body is read. Null: any replica serves this request.
     */
    owned?: (request: FastifyRequest) => Owned | null;
    /**
     * Like `owned`, for what the JSON body of the request names. Requests reach the owner after their validation, and nothing
     * before that may have an effect.
     */
    ownedByBody?: (request: FastifyRequest) => Owned | null;
  }
}

/** Before the guard: gives forwarded requests their client, and refuses those for routes that are never forwarded. */
export function admitHops(app: HttpApp, forwarding: Forwarding): void {
  app.addHook('onRequest', async (request) => {
    const hop = forwarding.hopOf(request.raw);
    if (hop === null) return;
    const { owned, ownedByBody } = request.routeOptions.config;
    if ((owned ?? ownedByBody) === undefined) throw httpErrors.HOP_REFUSED(NEVER_FORWARDED);
    const { remoteAddress, isSecure } = hop.client;
    Object.defineProperty(request, 'ip', { value: remoteAddress });
    Object.defineProperty(request, 'protocol', { value: isSecure ? 'https' : 'http' });
  });
}

/** Why a forwarded request is refused at a place that nothing forwards to. */
export const NEVER_FORWARDED = { details: { reason: 'requests for this address are never forwarded' } } as const;

/** After guard and limits: the one place that decides where a request of the app is served. */
export function forwardToOwners(app: HttpApp, forwarding: Forwarding): void {
  app.addHook('onRequest', async (request, reply) => {
    const { owned, ownedByBody } = request.routeOptions.config;
    if (ownedByBody === undefined) await forward(forwarding, request, reply, owned?.(request) ?? null);
  });
  app.addHook('preHandler', async (request, reply) => {
    const { ownedByBody } = request.routeOptions.config;
    if (ownedByBody === undefined) return;
    const body = (): Buffer => Buffer.from(JSON.stringify(request.body ?? null));
    await forward(forwarding, request, reply, ownedByBody(request), body);
  });
}

async function forward(
  forwarding: Forwarding,
  request: FastifyRequest,
  reply: FastifyReply,
  owned: Owned | null,
  body?: () => Buffer,
): Promise<void> {
  const { raw, id } = request;
  const isPublic = request.routeOptions.config.public === true;
  if (owned === null) {
    if (forwarding.hopOf(raw) !== null) throw httpErrors.HOP_REFUSED(NEVER_FORWARDED);
    return;
  }
  const client = { remoteAddress: request.ip, isSecure: request.protocol === 'https' };
  const forwarded = { owned, granted: isPublic ? null : grantedAccessOf(request), requestId: id, client };
  // The owner answers and records the request. Until it is known to be elsewhere, both are still ours.
  const before = { isAnswered: request.isAnswered, isAudited: request.isAudited };
  const begin = (): void => void Object.assign(request, { isAnswered: true, isAudited: true });
  let isForwarded = false;
  try {
    const exchange = { request: raw, response: reply.raw, answerHeaders: limitHeaders(reply), begin };
    isForwarded = await forwarding.forwardRequest(body === undefined ? exchange : { ...exchange, body }, forwarded);
  } finally {
    if (isForwarded) reply.hijack();
    else Object.assign(request, before);
  }
}

/** The limits of this replica, where the client's requests are counted. */
function limitHeaders(reply: FastifyReply): Record<string, string> {
  const limits = Object.entries(reply.getHeaders()).filter(([name]) => name.startsWith('x-ratelimit-'));
  return Object.fromEntries(limits.map(([name, value]) => [name, String(value)]));
}
