import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  accessErrors,
  type Access,
  type Action,
  type AuditLog,
  createGrantedAccess,
  type CredentialSource,
  type Grant,
  type GrantedAccess,
  type HeldRights,
  confirmAccess,
  type Principal,
} from '@svc/access';
import { ForwardedDecisions } from './forwarded-decisions.ts';
import { HeldRequests } from './held-requests.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The action of the route in the authorize table. Every route has this or `public`. */
    action?: Action;
    /** `workspace` (default): requires a grant for a workspace. `self`: acts on the principal's own account. */
    scope?: 'workspace' | 'self';
    /**
     * Returns the access that a capability in the request was granted earlier, such as the token of a sandbox. It takes
     * the place of a credential. The guard confirms that the creator of the capability may still perform the action.
     */
    grantedEarlier?: (request: FastifyRequest) => Promise<GrantedAccess>;
    /**
     * Also accepts a token as `X-API-Key`, which clients of some protocols send. Other routes do not: what passes requests
     * on to programs removes our credentials from `Authorization` only.
     */
    acceptsApiKey?: true;
    /** The route needs no authentication; a comment gives the reason. */
    public?: true;
    /**
     * Authorizes requests of a public route by a credential that is no principal's, before they are forwarded: each replica
     * decides for itself. Throws 401.
     */
    admit?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
    /** The resource for the audit log; defaults to the path parameters. */
    auditResource?: (request: FastifyRequest) => string;
    /** Audits a read, such as one that returns a secret. Changes are always audited. */
    audit?: boolean;
    /** Accepts content of any length and type as a raw stream. */
    rawBody?: boolean;
  }
  interface FastifyRequest {
    principal: Principal | null;
    grant: Grant | null;
    isAudited: boolean;
  }
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Dependencies of the guard. */
export interface GuardDeps {
  access: Access;
  audit: AuditLog;
  rights: HeldRights;
  /** Whether another replica has authorized the request and forwarded it. Defaults to never. */
  isForwarded?: (request: IncomingMessage) => boolean;
}

/** Authorizes every route before its body is read. A route without a declared action prevents startup. */
export function installGuard(app: FastifyInstance, { access, audit, rights, isForwarded }: GuardDeps): void {
  const forwarded = new ForwardedDecisions(access, () => rights.now());
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
    const {
      action,
      scope,
      public: isPublic,
      admit,
      grantedEarlier,
      acceptsApiKey = false,
    } = request.routeOptions.config;
    if (isPublic === true || action === undefined) {
      await admit?.(request, reply);
      return;
    }
    held.show(request);
    if (grantedEarlier !== undefined) {
      const granted = { ...(await grantedEarlier(request)), action };
      request.principal = await confirmAccess(access, granted);
      request.grant = granted.grant;
      held.holdGranted(request, reply, granted);
      return;
    }
    const source = sourceOf(request, acceptsApiKey);
    if (scope !== 'self' && isForwarded?.(request.raw) === true) {
      Object.assign(request, await forwarded.decide(source, { action, ...readWorkspace(request) }));
      held.hold(request, reply, action);
      return;
    }
    request.principal = await access.authenticate(source);
    if (scope === 'self') {
      await access.permit(request.principal, action);
    } else {
      request.grant = await access.authorize({ principal: request.principal, action, ...readWorkspace(request) });
    }
    held.hold(request, reply, action);
  });
  // Record before responding: every change that a caller has seen confirmed is in the log, even if the process then
  // dies.
  app.addHook('onSend', (request, reply) => recordAudit(audit, request, reply));
  // Covers routes that write their own response and clients that disconnect early.
  app.addHook('onResponse', (request, reply) => recordAudit(audit, request, reply));
}

/** Returns the principal of a guarded route. Throws UNAUTHORIZED on a public route. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw accessErrors.UNAUTHORIZED();
  return request.principal;
}

/** Returns the grant of a guarded, workspace-scoped route. */
export function grantOf(request: FastifyRequest): Grant {
  if (request.grant === null) throw accessErrors.FORBIDDEN();
  return request.grant;
}

/** Returns the access granted to a guarded request, to keep with a ticket or link that outlives it. */
export function grantedAccessOf(request: FastifyRequest): GrantedAccess {
  const { shownAt, grant } = request;
  const { action } = request.routeOptions.config;
  if (shownAt === null || action === undefined) throw accessErrors.UNAUTHORIZED();
  return createGrantedAccess(principalOf(request), shownAt, action, grant);
}

function sourceOf({ headers, method, ip, protocol }: FastifyRequest, acceptsApiKey: boolean): CredentialSource {
  const shown = acceptsApiKey ? withApiKey(headers) : headers;
  return { headers: shown, method, remoteAddress: ip, isSecure: protocol === 'https' };
}

function readWorkspace(request: FastifyRequest): { workspaceUuid?: string; teamUuid?: string } {
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
  // Unauthenticated callers changed nothing and must not be able to fill the log.
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
    // The change was made, so don't report a failure.
    request.log.error({ err: error, action }, 'the audit entry could not be written');
  }
}

/** An `Authorization` header comes first, whatever it says. */
function withApiKey(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const key = headers['x-api-key'];
  if (typeof key !== 'string' || headers.authorization !== undefined) return headers;
  return { ...headers, authorization: `Bearer ${key}` };
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : undefined;
}
