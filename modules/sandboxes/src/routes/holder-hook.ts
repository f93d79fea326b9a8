import { grantOf, type HttpApp, type Owned } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { SANDBOX, type Holder } from '../domain/holder.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route of one sandbox that only uses records, so that every node can serve it. */
    anyNode?: true;
  }
}

/**
 * Declares that only the node of a sandbox serves its requests, so that they are forwarded there. Covers all routes below
 * `PREFIX/:id` but those that declare `anyNode`. Call it before the routes are registered.
 */
export function ownSandboxRoutes(app: HttpApp, prefixes: readonly string[]): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.anyNode === true || !prefixes.some((prefix) => isOfOneSandbox(route.url, prefix))) return;
    route.config = { ...route.config, owned: ownedSandbox };
  });
}

function ownedSandbox(request: FastifyRequest): Owned {
  const { id } = request.params as { id: string }; // the route's path has it
  return { kind: SANDBOX, id, workspaceUuid: grantOf(request).workspaceUuid };
}

/**
 * Refuses every request for a sandbox of another node that was not forwarded, because that node cannot be reached. Before
 * the body is read, on the same routes.
 */
export function refuseElsewhere(app: HttpApp, prefixes: readonly string[], holder: Holder): void {
  app.addHook('onRequest', async (request) => {
    const { url = '', config } = request.routeOptions;
    if (config.anyNode === true || !prefixes.some((prefix) => isOfOneSandbox(url, prefix))) return;
    const { id } = request.params as { id: string }; // the route's path has it
    await holder.assertHereById(grantOf(request).workspaceUuid, id);
  });
}

function isOfOneSandbox(url: string, prefix: string): boolean {
  return url === `${prefix}/:id` || url.startsWith(`${prefix}/:id/`);
}
