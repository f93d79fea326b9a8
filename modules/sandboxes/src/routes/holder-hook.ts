import { grantOf, type HttpApp } from '@svc/http';
import type { Holder } from '../domain/holder.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A route of one sandbox that only uses records, so that every node can serve it. */
    anyNode?: true;
  }
}

/**
 * Refuses every request for a sandbox of another node, after the authorization and before the body is read. Covers all
 * routes below `PREFIX/:id` but those that declare `anyNode`.
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
