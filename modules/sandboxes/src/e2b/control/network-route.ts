import { grantOf, type HttpApp } from '@svc/http';
import { EVERYTHING } from '../../domain/egress-hosts.ts';
import { assertKnownNetwork } from './create-body.ts';
import { egressOf, egressSchema } from './egress.ts';
import { findSandbox } from './sandbox-finder.ts';
import { e2bIdParams, type ControlDeps } from './sandbox-routes.ts';

const KNOWN: ReadonlySet<string> = new Set(Object.keys(egressSchema.properties));

/** Replaces what a sandbox may reach; a field that is left out is cleared. */
export function registerNetworkRoute(app: HttpApp, { prefix, service, clock }: ControlDeps): void {
  app.put(
    `${prefix}/sandboxes/:id/network`,
    { config: { action: 'sandbox:update' }, schema: { hide: true, params: e2bIdParams, body: egressSchema } },
    async (request, reply) => {
      assertKnownNetwork(request.body, KNOWN, '');
      const allowed = egressOf(request.body, '') ?? EVERYTHING;
      const { workspaceUuid } = grantOf(request);
      const { id } = await findSandbox(service, clock, workspaceUuid, request.params.id);
      await service.changeEgress(workspaceUuid, id, allowed);
      return reply.status(204).send();
    },
  );
}
