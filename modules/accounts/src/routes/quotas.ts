import { grantOf, type HttpApp, nullable, principalOf } from '@svc/http';
import type { QuotaScope } from '@svc/quotas';
import { Type } from 'typebox';
import type { AccountServices } from '../domain/services.ts';
import { quotaStateSchema, toQuotaStateView } from './quota-schemas.ts';
import { idSchema, teamQuerySchema } from './schemas.ts';

const responseSchema = Type.Object({
  workspace_uuid: Type.String(),
  quotas: Type.Array(quotaStateSchema, { description: 'Limits and usage of this workspace' }),
  owner: nullable(
    Type.Object(
      { id: Type.String(), quotas: Type.Array(quotaStateSchema) },
      { description: 'Totals over all workspaces of the owner; null unless the caller is the owner' },
    ),
  ),
});

export function registerQuotas(app: HttpApp, { quotas, database }: AccountServices): void {
  const readStates = async (scope: QuotaScope, subject: string) =>
    (await quotas.ofSubject({ scope, subject })).map(toQuotaStateView);
  app.get(
    '/api/v1/workspaces/:workspace_uuid/quotas',
    {
      config: { action: 'quota:read' },
      schema: {
        tags: ['workspaces'],
        summary: 'Get the limits and usage of a workspace',
        params: Type.Object({ workspace_uuid: idSchema }),
        querystring: teamQuerySchema,
        response: { 200: responseSchema },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const workspace = await database.workspaces.byUuid(workspaceUuid);
      const principal = principalOf(request);
      const isOwner = principal.kind === 'user' && workspace?.ownerId === principal.id;
      return {
        workspace_uuid: workspaceUuid,
        quotas: await readStates('workspace', workspaceUuid),
        owner: isOwner ? { id: principal.id, quotas: await readStates('owner', principal.id) } : null,
      };
    },
  );
}
