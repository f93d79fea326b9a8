import { type HttpApp, principalOf } from '@svc/http';
import { Type } from 'typebox';
import { pageRequest } from '../domain/paging.ts';
import type { Invitation } from '../domain/records.ts';
import type { AccountServices } from '../domain/services.ts';
import { createdResource, namedResource } from './created-resource.ts';
import {
  deletedSchema,
  emailSchema,
  idSchema,
  listSchema,
  pageQuerySchema,
  roleSchema,
  timestampSchema,
} from './schemas.ts';
import { guardTeam, teamGrantOf } from './team-guard.ts';

const TAGS = ['teams'];
const MAX_LIFETIME_SECONDS = 30 * 86_400;

const invitationProperties = {
  id: Type.String(),
  email: Type.String(),
  role: roleSchema,
  invited_by: Type.String({ description: 'User ID' }),
  created_at: timestampSchema,
  expires_at: timestampSchema,
};
const invitationSchema = Type.Object(invitationProperties);
const createdSchema = Type.Object({
  ...invitationProperties,
  url: Type.String({ description: 'Invitation link; shown only once' }),
  token: Type.String({ description: 'Secret part of the link' }),
});
const createSchema = Type.Object(
  {
    email: emailSchema,
    role: roleSchema,
    expires_in: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: MAX_LIFETIME_SECONDS,
        description: "Seconds; seven days by default, and never longer than the lifetime of the caller's credential",
      }),
    ),
  },
  { additionalProperties: false },
);
const teamParamsSchema = Type.Object({ uuid: idSchema });
const paramsSchema = Type.Object({ uuid: idSchema, id: idSchema });

export function registerInvitations(app: HttpApp, services: AccountServices): void {
  app.get(
    '/api/v1/teams/:uuid/invitations',
    {
      config: { action: 'invitation:list', scope: 'self' },
      ...guardTeam(services, 'invitation:list'),
      schema: {
        tags: TAGS,
        summary: 'List open invitations',
        params: teamParamsSchema,
        querystring: pageQuerySchema,
        response: { 200: listSchema('invitations', invitationSchema) },
      },
    },
    async (request) => {
      const { team } = teamGrantOf(request);
      const { items, nextCursor } = await services.invitations.list(team.uuid, pageRequest(request.query));
      return { invitations: items.map(toInvitationView), next_cursor: nextCursor };
    },
  );

  app.post(
    '/api/v1/teams/:uuid/invitations',
    {
      config: { action: 'invitation:create', scope: 'self', auditResource: createdResource('invitation') },
      ...guardTeam(services, 'invitation:create'),
      schema: {
        tags: TAGS,
        summary: 'Create an invitation link',
        params: teamParamsSchema,
        body: createSchema,
        response: { 201: createdSchema },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const { invitation, secret } = await services.invitations.create({
        teamUuid: teamGrantOf(request).team.uuid,
        email: request.body.email,
        role: request.body.role,
        expiresInSeconds: request.body.expires_in,
        invitedBy: principal.id,
        latestExpiry: principal.expiresAt,
      });
      request.createdResource = `invitation/${invitation.id}`;
      reply.header('cache-control', 'no-store');
      // After the `#`, the secret reaches no server, proxy log or Referer header.
      const url = `${services.publicUrl()}/invite#${secret}`;
      return reply.status(201).send({ ...toInvitationView(invitation), url, token: secret });
    },
  );

  app.delete(
    '/api/v1/teams/:uuid/invitations/:id',
    {
      config: { action: 'invitation:delete', scope: 'self', auditResource: namedResource('invitation') },
      ...guardTeam(services, 'invitation:delete'),
      schema: { tags: TAGS, summary: 'Revoke an invitation', params: paramsSchema, response: { 200: deletedSchema } },
    },
    async (request) => {
      await services.invitations.revoke(teamGrantOf(request).team.uuid, request.params.id);
      return { id: request.params.id, deleted: true as const };
    },
  );
}

function toInvitationView(invitation: Invitation) {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    invited_by: invitation.invitedBy,
    created_at: invitation.createdAt,
    expires_at: invitation.expiresAt,
  };
}
