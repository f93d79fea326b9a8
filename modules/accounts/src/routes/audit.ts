import type { Principal } from '@svc/access';
import { type HttpApp, nullable, principalOf } from '@svc/http';
import { type Static, Type } from 'typebox';
import type { AuditRecord } from '../domain/records.ts';
import type { AccountServices } from '../domain/services.ts';
import type { AuditFilter } from '../domain/stores.ts';
import { idSchema, listSchema, teamPageQuerySchema, timestampSchema } from './schemas.ts';

const querySchema = Type.Object({
  ...teamPageQuerySchema.properties,
  workspace_uuid: Type.Optional(idSchema),
  actor: Type.Optional(Type.String({ minLength: 1, maxLength: 254, description: 'ID or name' })),
  action: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Such as `bucket:create`' })),
  since: Type.Optional(timestampSchema),
});

const entrySchema = Type.Object({
  id: Type.String(),
  occurred_at: timestampSchema,
  actor: Type.Object({ kind: Type.String(), id: nullable(Type.String()), name: nullable(Type.String()) }),
  credential: nullable(Type.Object({ kind: Type.String(), id: nullable(Type.String()) })),
  action: Type.String(),
  resource: Type.String(),
  workspace_uuid: nullable(Type.String()),
  outcome: Type.Union([Type.Literal('success'), Type.Literal('refused'), Type.Literal('failed')]),
  status: Type.Integer(),
  remote_address: Type.String(),
  request_id: Type.String(),
  details: Type.Unknown({ description: 'An object whose fields depend on the action' }),
});

export function registerAudit(app: HttpApp, services: AccountServices): void {
  app.get(
    '/api/v1/audit',
    {
      config: { action: 'audit:list', scope: 'self' }, // the workspace is optional here, so the handler authorizes it
      schema: {
        tags: ['audit'],
        summary:
          'List audit records, newest first: those of a workspace, or your own without one (all for the operator)',
        querystring: querySchema,
        response: { 200: listSchema('entries', entrySchema) },
      },
    },
    async (request) => {
      const visible = await visibleTo(services, principalOf(request), request.query);
      const filter = { ...visible, ...askedFor(request.query) };
      const { items, nextCursor } = await services.auditTrail.list(filter, request.query);
      return { entries: items.map(toEntryView), next_cursor: nextCursor };
    },
  );
}

/** Limits the filter to what the caller may see. */
async function visibleTo(
  services: AccountServices,
  principal: Principal,
  query: Static<typeof querySchema>,
): Promise<AuditFilter> {
  const { workspace_uuid: workspaceUuid, team_uuid: teamUuid } = query;
  const named = workspaceUuid !== undefined || teamUuid !== undefined;
  if (named || principal.kind !== 'user') {
    const grant = await services.access.authorize({ principal, action: 'audit:list', workspaceUuid, teamUuid });
    return { workspaceUuid: grant.workspaceUuid };
  }
  return principal.operator === true ? {} : { concerningUserId: principal.id };
}

function askedFor({ actor, action, since }: Static<typeof querySchema>): AuditFilter {
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(action === undefined ? {} : { action }),
    ...(since === undefined ? {} : { since: inStoredForm(since) }),
  };
}

/** Stored times are compared as text, so other offsets and precisions are converted first. */
function inStoredForm(since: string): string {
  const ms = Date.parse(since);
  return Number.isNaN(ms) ? since : new Date(ms).toISOString();
}

function toEntryView(record: AuditRecord) {
  return {
    id: String(record.sequence),
    occurred_at: record.occurredAt,
    actor: { kind: record.actorKind, id: record.actorId, name: record.actorName },
    credential: record.credential === null ? null : { kind: record.credential, id: record.credentialId },
    action: record.action,
    resource: record.resource,
    workspace_uuid: record.workspaceUuid,
    outcome: record.outcome,
    status: record.status,
    remote_address: record.remoteAddress,
    request_id: record.requestId,
    details: JSON.parse(record.details) as unknown,
  };
}
