import { type HttpApp, principalOf } from '@svc/http';
import { Type } from 'typebox';
import { pageRequest } from '../domain/paging.ts';
import type { Team, TeamRole } from '../domain/records.ts';
import type { AccountServices } from '../domain/services.ts';
import { createdResource, namedResource } from './created-resource.ts';
import {
  deletedSchema,
  idSchema,
  listSchema,
  nameSchema,
  pageQuerySchema,
  roleSchema,
  timestampSchema,
} from './schemas.ts';
import { guardTeam, teamGrantOf } from './team-guard.ts';
import { ENDS_OWN_RIGHT } from './unheld.ts';

const TAGS = ['teams'];

export const teamSchema = Type.Object({
  uuid: Type.String(),
  name: Type.String(),
  owner_id: Type.String(),
  role: roleSchema,
  created_at: timestampSchema,
  updated_at: timestampSchema,
});
const bodySchema = Type.Object({ name: nameSchema }, { additionalProperties: false });
const transferSchema = Type.Object({ user_id: idSchema }, { additionalProperties: false });
const paramsSchema = Type.Object({ uuid: idSchema });

export function registerTeams(app: HttpApp, services: AccountServices): void {
  app.get(
    '/api/v1/teams',
    {
      config: { action: 'team:list', scope: 'self' },
      schema: {
        tags: TAGS,
        summary: 'List your teams',
        querystring: pageQuerySchema,
        response: { 200: listSchema('teams', teamSchema) },
      },
    },
    async (request) => {
      const { items, nextCursor } = await services.teams.list(principalOf(request).id, pageRequest(request.query));
      return { teams: items.map((team) => toTeamView(team, team.role)), next_cursor: nextCursor };
    },
  );

  app.post(
    '/api/v1/teams',
    {
      config: { action: 'team:create', scope: 'self', auditResource: createdResource('team') },
      schema: { tags: TAGS, summary: 'Create a team', body: bodySchema, response: { 201: teamSchema } },
    },
    async (request, reply) => {
      const team = await services.teams.create(principalOf(request).id, request.body.name);
      request.createdResource = `team/${team.uuid}`;
      return reply.status(201).send(toTeamView(team, 'admin'));
    },
  );

  registerOneTeam(app, services);
}

function registerOneTeam(app: HttpApp, services: AccountServices): void {
  app.get(
    '/api/v1/teams/:uuid',
    {
      config: { action: 'team:read', scope: 'self' },
      ...guardTeam(services, 'team:read'),
      schema: { tags: TAGS, summary: 'Get a team', params: paramsSchema, response: { 200: teamSchema } },
    },
    async (request) => {
      const { team, member } = teamGrantOf(request);
      return toTeamView(team, member.role);
    },
  );

  app.patch(
    '/api/v1/teams/:uuid',
    {
      config: { action: 'team:update', scope: 'self', auditResource: namedResource('team') },
      ...guardTeam(services, 'team:update'),
      schema: {
        tags: TAGS,
        summary: 'Rename a team',
        params: paramsSchema,
        body: bodySchema,
        response: { 200: teamSchema },
      },
    },
    async (request) => {
      const { team, member } = teamGrantOf(request);
      return toTeamView(await services.teams.rename(team.uuid, request.body.name), member.role);
    },
  );

  app.delete(
    '/api/v1/teams/:uuid',
    {
      config: { action: 'team:delete', unheld: ENDS_OWN_RIGHT, scope: 'self', auditResource: namedResource('team') },
      ...guardTeam(services, 'team:delete'),
      schema: {
        tags: TAGS,
        summary: 'Delete a team; its workspaces stay with their owners',
        params: paramsSchema,
        response: { 200: deletedSchema },
      },
    },
    async (request) => {
      const { team } = teamGrantOf(request);
      await services.teams.delete(team.uuid);
      return { id: team.uuid, deleted: true as const };
    },
  );

  app.post(
    '/api/v1/teams/:uuid/transfer',
    {
      config: { action: 'team:transfer', unheld: ENDS_OWN_RIGHT, scope: 'self', auditResource: namedResource('team') },
      ...guardTeam(services, 'team:transfer'),
      schema: {
        tags: TAGS,
        summary: 'Transfer a team to another member',
        params: paramsSchema,
        body: transferSchema,
        response: { 200: teamSchema },
      },
    },
    async (request) => {
      const { team, member } = teamGrantOf(request);
      const transferred = await services.teams.transfer(team.uuid, member.userId, request.body.user_id);
      return toTeamView(transferred, 'admin');
    },
  );
}

function toTeamView(team: Team, role: TeamRole) {
  return {
    uuid: team.uuid,
    name: team.name,
    owner_id: team.ownerId,
    role,
    created_at: team.createdAt,
    updated_at: team.updatedAt,
  };
}
