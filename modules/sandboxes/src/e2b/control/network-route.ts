import { grantOf, principalOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { EVERYTHING } from '../../domain/egress-hosts.ts';
import { assertKnownNetwork } from './create-body.ts';
import { changeRules } from '../../domain/egress-rules/change-rules.ts';
import { parseEgressRules } from '../../routes/create-request.ts';
import { egressOf, egressSchema } from './egress.ts';
import { egressRulesOf, headerRulesSchema } from './header-rules.ts';
import { findSandbox } from './sandbox-finder.ts';
import { e2bIdParams, type ControlDeps } from './sandbox-routes.ts';

const bodySchema = Type.Object({ ...egressSchema.properties, rules: headerRulesSchema });
const KNOWN: ReadonlySet<string> = new Set(Object.keys(bodySchema.properties));

/** Replaces what a sandbox may reach; a field that is left out is cleared. */
export function registerNetworkRoute(app: HttpApp, deps: ControlDeps): void {
  const { prefix, service, clock, context, secretNames } = deps;
  app.put(
    `${prefix}/sandboxes/:id/network`,
    {
      config: { action: 'sandbox:update', answersLate: true },
      schema: { hide: true, params: e2bIdParams, body: bodySchema },
    },
    async (request, reply) => {
      assertKnownNetwork(request.body, KNOWN, '');
      const allowed = egressOf(request.body, '') ?? EVERYTHING;
      const { workspaceUuid } = grantOf(request);
      const { id, egressRules } = await findSandbox(service, clock, workspaceUuid, request.params.id);
      const given = await egressRulesOf(request.body.rules, 'rules', () => secretNames(workspaceUuid));
      const rules = parseEgressRules(given, principalOf(request));
      await service.changeEgress(workspaceUuid, id, allowed);
      if (rules.length + egressRules.length > 0) await changeRules(context, service, workspaceUuid, id, rules);
      return reply.status(204).send();
    },
  );
}
