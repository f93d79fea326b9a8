import type { AppError } from '@svc/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access, Action } from './access.ts';
import { createGrantedAccess, createGrantedRight } from './granted-right.ts';
import type { HeldRights } from './held-rights.ts';
import { whenClosed } from './when-closed.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Why a guarded request is not ended when the right to it goes once its handler has begun; until then, such as while
     * its body comes, it is. Only for short answers to changes that may take away the right they were made with, such as a
     * sign-out. Such a route cannot send a stream.
     */
    unheld?: string;
  }
  interface FastifyRequest {
    /** When the credential was shown: before it was looked up. */
    shownAt: Date | null;
    /** The answer is on its way, so that no other may begin. */
    isAnswered: boolean;
    /** Ends the hold on a request of an unheld route. */
    releaseHeld: (() => void) | null;
  }
}

/** Holds every guarded request for as long as it lasts, whatever its route does: no route has to remember it. */
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

  /** To be called before the credential is looked up. */
  show(request: FastifyRequest): void {
    request.shownAt = this.#rights.now();
  }

  /** To be called once the request is granted. */
  hold(request: FastifyRequest, reply: FastifyReply, action: Action): void {
    const { principal, grant, shownAt } = request;
    if (principal === null || shownAt === null) return;
    const granted = createGrantedAccess(principal, shownAt, action, grant);
    const right = createGrantedRight(this.#access, granted, shownAt.getTime());
    const release = this.#rights.hold(right, (refusal) => endRequest(request, reply, refusal));
    if (request.routeOptions.config.unheld !== undefined) request.releaseHeld = release;
    whenClosed(reply.raw, release);
  }
}

/** Refuses a request that is not answered yet, and cuts an answer that has begun: nothing of it is delivered any more. */
function endRequest(request: FastifyRequest, reply: FastifyReply, refusal: AppError): void {
  request.log.info({ code: refusal.code }, 'a request was ended: the right to it is gone');
  if (request.isAnswered || reply.sent || reply.raw.headersSent) {
    reply.raw.destroy();
    return;
  }
  reply.header('connection', 'close');
  void reply.send(refusal);
  reply.hijack(); // whatever the route answers later comes too late
}

function isStream(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && ('pipe' in payload || 'getReader' in payload);
}
