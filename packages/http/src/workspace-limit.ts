import type { IncomingMessage } from 'node:http';
import type { TrafficRefusal, WorkspaceTraffic } from '@svc/quotas';
import type { FastifyInstance } from 'fastify';
import { httpErrors } from './errors.ts';

/**
 * Counts each call of a workspace-scoped route against its workspace, for every principal and credential. `isCounted`:
 * false for requests that another replica has counted.
 */
export function limitWorkspaces(
  app: FastifyInstance,
  traffic: WorkspaceTraffic,
  isCounted: (request: IncomingMessage) => boolean = () => true,
): void {
  app.addHook('onRequest', async ({ grant, raw }) => {
    if (grant === null || !isCounted(raw)) return;
    const refusal = await traffic.admit(grant.workspaceUuid);
    if (refusal !== null) throw tooManyRequests(refusal);
  });
}

function tooManyRequests({ quota, scope, limit, retryAfterSeconds }: TrafficRefusal): Error {
  const subject = quota === null ? 'the platform is busy' : `the ${scope} may make ${limit} requests per second`;
  return httpErrors.TOO_MANY_REQUESTS({
    details: {
      quota,
      scope,
      limit,
      retry_after_seconds: retryAfterSeconds,
      reason: `${subject}; try again in ${retryAfterSeconds} s`,
    },
    headers: { 'retry-after': String(retryAfterSeconds) },
  });
}
