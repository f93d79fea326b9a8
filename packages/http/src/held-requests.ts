import {
  type Access,
  type Action,
  createGrantedAccess,
  createGrantedRight,
  type GrantedAccess,
  type HeldRights,
} from '@svc/access';
import type { AppError } from '@svc/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { whenClosed } from './when-closed.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Why the request keeps running if its right is revoked after the handler starts. Before that, such as while the
     * body arrives, the request still ends. Only for short responses to changes that may revoke the right they were
     * made with, such as a sign-out. Such a route cannot stream.
     */
    unheld?: string;
  }
  interface FastifyRequest {
    /** When the credential was presented, before it was looked up. */
    shownAt: Date | null;
    /** A response is on its way; no other may begin. */
    isAnswered: boolean;
    /** Releases the right held by an unheld route. */
    releaseHeld: (() => void) | null;
  }
}

/** Holds every guarded request while it lasts. Routes need no code for it. */
export class HeldRequests {
  readonly #access: Access;
  readonly #rights: HeldRights;

  constructor(access: Access, rights: HeldRights) {
    this.#access = access;
    this.#rights = rights;
  }

  install(app: FastifyInstance): void {
    app.decorateRequest('shownAt', null);
    app.decorateRequest('isAnswered', false);
    app.decorateRequest('releaseHeld', null);
    app.addHook('preHandler', async (request) => request.releaseHeld?.());
    app.addHook('onSend', async (request, _reply, payload) => {
      request.isAnswered = true;
      const { unheld } = request.routeOptions.config;
      if (unheld === undefined || !isStream(payload)) return;
      throw new Error(`${request.method} ${request.routeOptions.url} sends a stream that is not held`);
    });
  }

  /** Records when the credential was presented; call it before looking the credential up. */
  show(request: FastifyRequest): void {
    request.shownAt = this.#rights.now();
  }

  /** Holds a granted request until its response ends. */
  hold(request: FastifyRequest, reply: FastifyReply, action: Action): void {
    const { principal, grant, shownAt } = request;
    if (principal === null || shownAt === null) return;
    this.holdGranted(request, reply, createGrantedAccess(principal, shownAt, action, grant));
  }

  /** Holds a request with access that was granted before the request. */
  holdGranted(request: FastifyRequest, reply: FastifyReply, granted: GrantedAccess): void {
    if (request.shownAt === null) return;
    const right = createGrantedRight(this.#access, granted, request.shownAt.getTime());
    const release = this.#rights.hold(right, (refusal) => endRequest(request, reply, refusal));
    if (request.routeOptions.config.unheld !== undefined) request.releaseHeld = release;
    whenClosed(reply.raw, release);
  }
}

/** Refuses a request without a response; cuts a response in progress, so that nothing more is delivered. */
function endRequest(request: FastifyRequest, reply: FastifyReply, refusal: AppError): void {
  request.log.info({ code: refusal.code }, 'a request was ended: its right was revoked');
  if (request.isAnswered || reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  reply.header('connection', 'close');
  void reply.send(refusal);
  reply.hijack(); // discards a later response of the route
}

function isStream(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && ('pipe' in payload || 'getReader' in payload);
}
