import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access, Action, AuditLog, Grant, Principal } from './access.ts';
import { httpErrors } from './errors.ts';
import { createGrantedAccess, type GrantedAccess } from './granted-right.ts';
import { HeldRequests } from './held-requests.ts';
import type { HeldRights } from './held-rights.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the route does, as the authorize table names it. Every route has this or `public`. */
    action?: Action;
    /** `workspace` (default): a grant for a workspace is needed. `self`: the principal acts on what is its own. */
    scope?: 'workspace' | 'self';
    /** The route answers anybody, and says why in a comment. */
    public?: true;
    /** What was acted on, for the audit log; the path's own parameters by default. */
    auditResource?: (request: FastifyRequest) => string;
    /** Reads are not audited unless they hand out a secret. Changes always are. */
    audit?: boolean;
    /** The body is not a document but content of any length and type, which the route takes as it comes. */
    rawBody?: boolean;
  }
  interface FastifyRequest {
    principal: Principal | null;
    grant: Grant | null;
    isAudited: boolean;
  }
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export interface GuardDeps {
  access: Access;
  audit: AuditLog;
  rights: HeldRights;
}

/** Decides for every route at once, before its body is read; a route without a declared action does not start. */
export function installGuard(app: FastifyInstance, { access, audit, rights }: GuardDeps): void {
  const held = new HeldRequests(access, rights);
  held.install(app);
  app.decorateRequest('principal', null);
  app.decorateRequest('grant', null);
  app.decorateRequest('isAudited', false);
  app.addHook('onRoute', (route) => {
    if (route.config?.public === true || route.config?.action !== undefined) return;
    throw new Error(`route ${String(route.method)} ${route.url} declares neither an action nor public`);
  });
  app.addHook('onRequest', async (request, reply) => {
    const { action, scope, public: isPublic } = request.routeOptions.config;
    if (isPublic === true || action === undefined) return;
    held.show(request);
    request.principal = await access.authenticate({
      headers: request.headers,
      method: request.method,
      remoteAddress: request.ip,
      isSecure: request.protocol === 'https',
    });
    if (scope === 'self') {
      await access.permit(request.principal, action);
    } else {
      request.grant = await access.authorize({ principal: request.principal, action, ...workspaceOf(request) });
    }
    held.hold(request, reply, action);
  });
  // Before the answer: a change that the caller knows of is in the log, whatever happens to the process after it.
  app.addHook('onSend', (request, reply) => recordAudit(audit, request, reply));
  // Answers that a route wrote itself, and clients that left before theirs.
  app.addHook('onResponse', (request, reply) => recordAudit(audit, request, reply));
}

/** The principal of a guarded route. Throws only when a route that declared itself public asks for it. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw httpErrors.UNAUTHORIZED();
  return request.principal;
}

/** The grant of a guarded, workspace-scoped route. */
export function grantOf(request: FastifyRequest): Grant {
  if (request.grant === null) throw httpErrors.FORBIDDEN();
  return request.grant;
}

/** What a guarded request was granted, for what outlives it: a ticket, a link. */
export function grantedAccessOf(request: FastifyRequest): GrantedAccess {
  const { shownAt, grant } = request;
  const { action } = request.routeOptions.config;
  if (shownAt === null || action === undefined) throw httpErrors.UNAUTHORIZED();
  return createGrantedAccess(principalOf(request), shownAt, action, grant);
}

function workspaceOf(request: FastifyRequest): { workspaceUuid?: string; teamUuid?: string } {
  const params = asRecord(request.params);
  const query = asRecord(request.query);
  const workspaceUuid = text(params['workspace_uuid']) ?? text(query['workspace_uuid']);
  const teamUuid = text(query['team_uuid']);
  return {
    ...(workspaceUuid === undefined ? {} : { workspaceUuid }),
    ...(teamUuid === undefined ? {} : { teamUuid }),
  };
}

async function recordAudit(audit: AuditLog, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { action, auditResource, audit: wanted } = request.routeOptions.config;
  if (action === undefined || request.isAudited) return;
  // Whoever has shown no valid credential has changed nothing, and must not be able to fill the log.
  if (request.principal === null || !(wanted ?? !SAFE_METHODS.has(request.method))) return;
  request.isAudited = true;
  const status = reply.statusCode;
  try {
    await audit.record({
      principal: request.principal,
      action,
      resource: auditResource?.(request) ?? Object.values(asRecord(request.params)).join('/'),
      workspaceUuid: request.grant?.workspaceUuid ?? null,
      outcome: status < 400 ? 'success' : status < 500 ? 'refused' : 'failed',
      status,
      remoteAddress: request.ip,
      requestId: request.id,
    });
  } catch (error) {
    // The change is made; to answer that it failed would be untrue.
    request.log.error({ err: error, action }, 'the audit entry could not be written');
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : undefined;
}
