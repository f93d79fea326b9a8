import { type HttpApp, principalOf } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { callerOf } from '../domain/access/principals.ts';
import { authorizeTeam, type TeamGrant } from '../domain/authorize/authorize.ts';
import type { KnownAction } from '../domain/authorize/table.ts';
import { accountErrors } from '../errors.ts';
import type { AccountServices } from '../domain/services.ts';

declare module 'fastify' {
  interface FastifyRequest {
    teamGrant: TeamGrant | null;
  }
}

/** Declares the team grant on the requests of this plugin scope. */
export function decorateTeamGrants(app: HttpApp): void {
  app.decorateRequest('teamGrant', null);
}

interface TeamGuard {
  onRequest: (request: FastifyRequest) => Promise<void>;
  preHandler: (request: FastifyRequest) => Promise<void>;
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Hooks of routes under `/teams/:uuid`. They decide after the platform's guard has authenticated the caller and before
 * the body is read, and again once the body of a change has arrived, which may take a while. `actionOf` may depend on
 * the request: leaving differs from removing.
 */
export function guardTeam(
  services: Pick<AccountServices, 'database'>,
  actionOf: KnownAction | ((request: FastifyRequest) => KnownAction),
): TeamGuard {
  const decide = async (request: FastifyRequest): Promise<void> => {
    const action = typeof actionOf === 'string' ? actionOf : actionOf(request);
    const teamUuid = pathParameter(request, 'uuid');
    request.teamGrant = await authorizeTeam(services.database, callerOf(principalOf(request)), action, teamUuid);
  };
  return {
    onRequest: decide,
    preHandler: async (request) => {
      if (!SAFE_METHODS.has(request.method)) await decide(request);
    },
  };
}

/** The grant of a route with `guardTeam`; throws without it. */
export function teamGrantOf(request: FastifyRequest): TeamGrant {
  if (request.teamGrant === null) throw accountErrors.FORBIDDEN();
  return request.teamGrant;
}

/** Hooks run before the path schema has typed the parameters. */
export function pathParameter(request: FastifyRequest, name: string): string {
  const params: unknown = request.params;
  const value: unknown = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined;
  return typeof value === 'string' ? value : '';
}
