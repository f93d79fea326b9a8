import { grantOf, principalOf, type HttpApp } from '@svc/http';
import type { SandboxContext } from '../domain/context.ts';
import { changeRules } from '../domain/egress-rules/change-rules.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { SecretService } from '../domain/secrets/secret-service.ts';
import { parseEgressRules } from './create-request.ts';
import { toSandboxView, type ImageProgressSource } from './sandbox-view.ts';
import { idParamsSchema, egressRulesBodySchema, sandboxSchema, workspaceQuerySchema } from './schemas.ts';

export interface EgressRuleRoutesOptions {
  readonly prefix: string;
  readonly context: SandboxContext;
  readonly service: SandboxService;
  readonly secrets: SecretService;
  readonly images: ImageProgressSource;
}

/** `…/:id/egress/rules`: served by the sandbox's node, which applies the change. */
export function registerEgressRuleRoutes(app: HttpApp, options: EgressRuleRoutesOptions): void {
  const { prefix, context, service, secrets, images } = options;
  app.put(
    `${prefix}/:id/egress/rules`,
    {
      config: { action: 'sandbox:update', answersLate: true },
      schema: {
        tags: ['sandboxes'],
        summary: 'Replace the rules that add secrets to requests of a sandbox, also while it runs',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        body: egressRulesBodySchema,
        response: { 200: sandboxSchema },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const { id } = request.params;
      const rules = parseEgressRules(request.body.egress_rules, principalOf(request));
      await service.get(workspaceUuid, id); // a foreign sandbox tells nothing of secrets
      await secrets.assertKnown(workspaceUuid, rules);
      return toSandboxView(await changeRules(context, service, workspaceUuid, id, rules), images);
    },
  );
}
