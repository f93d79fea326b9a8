import { grantOf, type HttpApp, nullable, principalOf } from '@svc/http';
import { Type } from 'typebox';
import { callerOf } from '../domain/access/principals.ts';
import type { AccountServices } from '../domain/services.ts';
import { namedResource } from './created-resource.ts';
import { deletedSchema, idSchema, nameSchema, teamQuerySchema } from './schemas.ts';
import { workspaceSchema, toWorkspaceView } from './workspaces.ts';
import { ENDS_OWN_RIGHT } from './unheld.ts';

const TAGS = ['workspaces'];

const paramsSchema = Type.Object({ workspace_uuid: idSchema });
const changeSchema = Type.Object(
  { name: Type.Optional(nameSchema), team_uuid: Type.Optional(nullable(idSchema)) },
  { additionalProperties: false, minProperties: 1 },
);
const transferSchema = Type.Object({ user_id: idSchema }, { additionalProperties: false });

export function registerWorkspaceChanges(app: HttpApp, services: AccountServices): void {
  app.patch(
    '/api/v1/workspaces/:workspace_uuid',
    {
      config: { action: 'workspace:update', unheld: ENDS_OWN_RIGHT, auditResource: namedResource('workspace') },
      schema: {
        tags: TAGS,
        summary: 'Rename a workspace; its owner can also move it into a team, or out of one with null',
        params: paramsSchema,
        querystring: teamQuerySchema,
        body: changeSchema,
        response: { 200: workspaceSchema },
      },
    },
    async (request) => {
      const { workspaceUuid, role } = grantOf(request);
      const principal = principalOf(request);
      const { name, team_uuid: teamUuid } = request.body;
      if (teamUuid !== undefined) {
        const target = { workspaceUuid, teamUuid: request.query.team_uuid };
        await services.access.authorize({ principal, action: 'workspace:move', ...target });
      }
      const changed = await services.workspaces.change(callerOf(principal), workspaceUuid, { name, teamUuid });
      return toWorkspaceView(changed, role);
    },
  );

  app.delete(
    '/api/v1/workspaces/:workspace_uuid',
    {
      config: { action: 'workspace:delete', unheld: ENDS_OWN_RIGHT, auditResource: namedResource('workspace') },
      schema: {
        tags: TAGS,
        summary: 'Delete an empty workspace',
        params: paramsSchema,
        querystring: teamQuerySchema,
        response: { 200: deletedSchema },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      await services.workspaceDeletion.delete(workspaceUuid);
      return { id: workspaceUuid, deleted: true as const };
    },
  );

  app.post(
    '/api/v1/workspaces/:workspace_uuid/transfer',
    {
      config: { action: 'workspace:transfer', unheld: ENDS_OWN_RIGHT, auditResource: namedResource('workspace') },
      schema: {
        tags: TAGS,
        summary: 'Transfer a workspace to another member of its team',
        params: paramsSchema,
        querystring: teamQuerySchema,
        body: transferSchema,
        response: { 200: workspaceSchema },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      const from = principalOf(request).id;
      const to = request.body.user_id;
      const workspace = await services.workspaces.transfer(workspaceUuid, from, to);
      const member = await services.database.members.get(workspace.teamUuid ?? '', from);
      return toWorkspaceView(workspace, workspace.ownerId === from ? 'owner' : (member?.role ?? 'guest'));
    },
  );
}
