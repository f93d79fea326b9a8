import { grantOf, type HttpApp, nullable, principalOf } from '@svc/http';
import { Type } from 'typebox';
import { callerOf } from '../domain/access/principals.ts';
import { pageRequest } from '../domain/paging.ts';
import type { Workspace } from '../domain/records.ts';
import type { AccountServices } from '../domain/services.ts';
import { createdResource } from './created-resource.ts';
import { idSchema, listSchema, nameSchema, teamPageQuerySchema, timestampSchema } from './schemas.ts';

const TAGS = ['workspaces'];

export const workspaceSchema = Type.Object({
  uuid: Type.String(),
  name: Type.String(),
  owner_id: Type.String(),
  team_uuid: nullable(Type.String()),
  role: Type.Union([
    Type.Literal('owner'),
    Type.Literal('admin'),
    Type.Literal('member'),
    Type.Literal('guest'),
    Type.Literal('service_account'),
  ]),
  created_at: timestampSchema,
  updated_at: timestampSchema,
});
const createSchema = Type.Object(
  { name: nameSchema, team_uuid: Type.Optional(nullable(idSchema)) },
  { additionalProperties: false },
);

export function registerWorkspaces(app: HttpApp, services: AccountServices): void {
  app.get(
    '/api/v1/workspaces',
    {
      config: { action: 'workspace:list', scope: 'self' },
      schema: {
        tags: TAGS,
        summary: 'List the workspaces you can access; your default workspace comes first among your own',
        querystring: teamPageQuerySchema,
        response: { 200: listSchema('workspaces', workspaceSchema) },
      },
    },
    async (request) => {
      const caller = callerOf(principalOf(request));
      const page = await services.workspaces.list(caller, pageRequest(request.query), request.query.team_uuid);
      return {
        workspaces: page.items.map((item) => toWorkspaceView(item, roleIn(item, caller.id))),
        next_cursor: page.nextCursor,
      };
    },
  );

  app.post(
    '/api/v1/workspaces',
    {
      config: { action: 'workspace:create', scope: 'self', auditResource: createdResource('workspace') },
      schema: { tags: TAGS, summary: 'Create a workspace', body: createSchema, response: { 201: workspaceSchema } },
    },
    async (request, reply) => {
      const caller = callerOf(principalOf(request));
      const { name, team_uuid } = request.body;
      const workspace = await services.workspaces.create(caller, name, team_uuid ?? null);
      request.createdResource = `workspace/${workspace.uuid}`;
      return reply.status(201).send(toWorkspaceView(workspace, 'owner'));
    },
  );

  app.get(
    '/api/v1/workspaces/:workspace_uuid',
    {
      config: { action: 'workspace:read' },
      schema: {
        tags: TAGS,
        summary: 'Get a workspace',
        params: Type.Object({ workspace_uuid: idSchema }),
        querystring: Type.Object({ team_uuid: Type.Optional(idSchema) }),
        response: { 200: workspaceSchema },
      },
    },
    async (request) => {
      const { workspaceUuid, role } = grantOf(request);
      return toWorkspaceView(await services.workspaces.get(workspaceUuid), role);
    },
  );
}

export type WorkspaceRole = 'owner' | 'admin' | 'member' | 'guest' | 'service_account';

/** Without a role, the only caller who can see it is its service account. */
function roleIn(workspace: Workspace & { teamRole: WorkspaceRole | null }, callerId: string): WorkspaceRole {
  return workspace.ownerId === callerId ? 'owner' : (workspace.teamRole ?? 'service_account');
}

export function toWorkspaceView(workspace: Workspace, role: WorkspaceRole) {
  return {
    uuid: workspace.uuid,
    name: workspace.name,
    owner_id: workspace.ownerId,
    team_uuid: workspace.teamUuid,
    role,
    created_at: workspace.createdAt,
    updated_at: workspace.updatedAt,
  };
}
