import { grantOf, type HttpApp, type Owned } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { SANDBOX } from '../domain/holder.ts';
import { VOLUME } from '../routes/volume-routes.ts';
import { fromE2bId } from './sandbox-ids.ts';

/**
 * Declares what all routes of E2B clients share. The control plane accepts keys in the header that clients send. Only the
 * node of a sandbox serves its requests, so they are forwarded there: on the routes of one sandbox but those that declare
 * `anyNode`, and on the whole data plane. Call it before the routes are registered.
 */
export function declareE2bRoutes(app: HttpApp): void {
  app.addHook('onRoute', (route) => {
    const config = route.config ?? {};
    if (config.public === true) return;
    if (config.grantedEarlier !== undefined) {
      route.config = { owned: admitted, ...config };
      return;
    }
    const isOwned = config.anyNode !== true && /\/sandboxes\/:id(\/|$)/.test(route.url);
    route.config = { ...config, acceptsApiKey: true, ...(isOwned ? { owned: namedSandbox } : {}) };
  });
}

function namedSandbox(request: FastifyRequest): Owned {
  const { id } = request.params as { id: string }; // the route's path has it
  return { kind: SANDBOX, id: fromE2bId(id) ?? id, workspaceUuid: grantOf(request).workspaceUuid };
}

/** What a token admitted the request to: a sandbox, or a volume. */
function admitted({ envdSandbox: sandbox, e2bVolume: volume }: FastifyRequest): Owned | null {
  if (volume !== null) return { kind: VOLUME, id: volume.name, workspaceUuid: volume.workspaceUuid };
  return sandbox === null ? null : { kind: SANDBOX, id: sandbox.id, workspaceUuid: sandbox.workspaceUuid };
}
