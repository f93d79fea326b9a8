import type { IncomingMessage } from 'node:http';
import type { Principal } from '@svc/access';
import { addressKey } from '@svc/addresses';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { httpErrors } from './errors.ts';
import { RateLimiter, rateLimitHeaders, type RateLimit } from './rate-limit.ts';

/** A rate limit of routes. Routes that share this object share its buckets. */
export interface RouteRateLimit extends RateLimit {
  /**
   * `principal`: per principal, after the guard; per address on public routes. All service accounts of a workspace count
   * as one, so that creating more of them raises no limit. `address`: per client address, before
   * the guard, so that token guesses count too.
   */
  by: 'principal' | 'address';
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Adds `X-RateLimit-*` to responses. Above the limit: 429 with `Retry-After` in seconds. */
    rateLimit?: RouteRateLimit;
  }
}

/** Dependencies of the route limits. */
export interface RouteRateLimitsDeps {
  readonly nowMs: () => number;
  /** False for requests that another replica has counted. */
  readonly isCounted?: (request: IncomingMessage) => boolean;
  /** How many replicas share the limits now. */
  readonly replicas?: () => number;
}

/** Hooks around the guard: `beforeGuard` counts addresses, `afterGuard` principals. */
export class RouteRateLimits {
  readonly #limiters = new Map<RouteRateLimit, RateLimiter>();
  readonly #nowMs: () => number;
  readonly #isCounted: (request: IncomingMessage) => boolean;
  readonly #replicas: () => number;

  constructor({ nowMs, isCounted = () => true, replicas = () => 1 }: RouteRateLimitsDeps) {
    this.#nowMs = nowMs;
    this.#isCounted = isCounted;
    this.#replicas = replicas;
  }

  beforeGuard(app: FastifyInstance): void {
    // Created at registration, so that routes bound the number of limiters.
    app.addHook('onRoute', ({ config }) => {
      const limit = config?.rateLimit;
      if (limit === undefined || this.#limiters.has(limit)) return;
      this.#limiters.set(limit, new RateLimiter(limit, this.#nowMs, { replicas: this.#replicas }));
    });
    app.addHook('onRequest', async (request, reply) => {
      const limit = request.routeOptions.config.rateLimit;
      if (limit === undefined || !isByAddress(limit, request) || !this.#isCounted(request.raw)) return;
      this.#take(limit, addressKey(request.ip), reply);
    });
  }

  afterGuard(app: FastifyInstance): void {
    app.addHook('onRequest', async (request, reply) => {
      const limit = request.routeOptions.config.rateLimit;
      if (limit === undefined || isByAddress(limit, request) || request.principal === null) return;
      if (!this.#isCounted(request.raw)) return;
      this.#take(limit, callerKey(request.principal), reply);
    });
  }

  #take(limit: RouteRateLimit, key: string, reply: FastifyReply): void {
    const decision = this.#limiters.get(limit)?.take(key);
    if (decision === undefined) return;
    const headers = rateLimitHeaders(decision);
    reply.headers(headers);
    if (decision.allowed) return;
    const seconds = decision.retryAfterSeconds;
    throw httpErrors.TOO_MANY_REQUESTS({
      details: { limit: decision.limit, retry_after_seconds: seconds, reason: `try again in ${seconds} s` },
      headers,
    });
  }
}

/** The key of a caller's rate limits. */
export function callerKey({ kind, id, workspaceUuid }: Principal): string {
  return kind === 'service_account' ? `service accounts of ${workspaceUuid ?? id}` : `${kind}:${id}`;
}

function isByAddress(limit: RouteRateLimit, request: FastifyRequest): boolean {
  return limit.by === 'address' || request.routeOptions.config.public === true;
}
