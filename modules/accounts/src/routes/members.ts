import type { HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { pageRequest } from '../domain/paging.ts';
import type { AccountServices } from '../domain/services.ts';
import type { MemberView } from '../domain/teams/members.ts';
import { namedResource } from './created-resource.ts';
import { deletedSchema, idSchema, listSchema, pageQuerySchema, roleSchema, timestampSchema } from './schemas.ts';
import { guardTeam, pathParameter, teamGrantOf } from './team-guard.ts';
import { ENDS_OWN_RIGHT } from './unheld.ts';

const TAGS = ['teams'];

const memberSchema = Type.Object({
  user_id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: roleSchema,
  owner: Type.Boolean(),
  joined_at: timestampSchema,
});
const teamParamsSchema = Type.Object({ uuid: idSchema });
const paramsSchema = Type.Object({ uuid: idSchema, user_id: idSchema });
const roleBodySchema = Type.Object({ role: roleSchema }, { additionalProperties: false });

export function registerMembers(app: HttpApp, services: AccountServices): void {
  app.get(
    '/api/v1/teams/:uuid/members',
    {
      config: { action: 'member:list', scope: 'self' },
      ...guardTeam(services, 'member:list'),
      schema: {
        tags: TAGS,
        summary: 'List the members of a team',
        params: teamParamsSchema,
        querystring: pageQuerySchema,
        response: { 200: listSchema('members', memberSchema) },
      },
    },
    async (request) => {
      const { team } = teamGrantOf(request);
      const { items, nextCursor } = await services.members.list(team.uuid, pageRequest(request.query));
      return { members: items.map((member) => toMemberView(member, team.ownerId)), next_cursor: nextCursor };
    },
  );

  app.patch(
    '/api/v1/teams/:uuid/members/:user_id',
    {
      config: {
        action: 'member:update',
        unheld: ENDS_OWN_RIGHT,
        scope: 'self',
        auditResource: namedResource('member'),
      },
      ...guardTeam(services, 'member:update'),
      schema: {
        tags: TAGS,
        summary: "Change a member's role",
        params: paramsSchema,
        body: roleBodySchema,
        response: { 200: memberSchema },
      },
    },
    async (request) => {
      const { team } = teamGrantOf(request);
      const member = await services.members.setRole(team.uuid, request.params.user_id, request.body.role);
      return toMemberView(member, team.ownerId);
    },
  );

  app.delete(
    '/api/v1/teams/:uuid/members/:user_id',
    {
      config: {
        action: 'member:delete',
        unheld: ENDS_OWN_RIGHT,
        scope: 'self',
        auditResource: namedResource('member'),
      },
      ...guardTeam(services, (request) =>
        pathParameter(request, 'user_id') === request.principal?.id ? 'team:leave' : 'member:delete',
      ),
      schema: {
        tags: TAGS,
        summary: "Remove a member, or leave the team; the member's workspaces in the team pass to the team owner",
        params: paramsSchema,
        response: { 200: deletedSchema },
      },
    },
    async (request) => {
      const { team } = teamGrantOf(request);
      await services.members.remove(team.uuid, request.params.user_id);
      return { id: request.params.user_id, deleted: true as const };
    },
  );
}

function toMemberView(member: MemberView, ownerId: string) {
  return {
    user_id: member.userId,
    email: member.email ?? '',
    name: member.name,
    role: member.role,
    owner: member.userId === ownerId,
    joined_at: member.createdAt,
  };
}
