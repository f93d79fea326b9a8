import type { Principal } from '@svc/access';
import { isAppError } from '@svc/errors';
import { type HttpApp, nullable } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { userPrincipal } from '../domain/access/principals.ts';
import { shownCredential } from './credentials/shown-credential.ts';
import { accountErrors } from '../errors.ts';
import type { AccountServices } from '../domain/services.ts';
import type { Accepted } from '../domain/teams/invitation-acceptance.ts';
import { emailSchema, idSchema, nameSchema, passwordSchema, roleSchema, userSchema } from './schemas.ts';
import { toUserView } from './views.ts';

const bodySchema = Type.Object(
  {
    email: Type.Optional(emailSchema),
    name: Type.Optional(nameSchema),
    password: Type.Optional(passwordSchema),
  },
  { additionalProperties: false, description: 'All three are required without a sign-in; with one, omit them' },
);

/** Guessing 256 bits is infeasible; this only limits the noise. */
const ATTEMPTS = { by: 'address', perMinute: 60, burst: 60 } as const;

const schema = {
  tags: ['teams'],
  summary: 'Accept an invitation as the signed-in user or as a new user',
  security: [{}, { bearer: [] }],
  params: Type.Object({ token: idSchema }),
  body: Type.Optional(nullable(bodySchema)),
  response: {
    200: Type.Object({
      team_uuid: Type.String(),
      team_name: Type.String(),
      role: roleSchema,
      created: Type.Boolean({ description: 'Whether the user was created' }),
      user: userSchema,
    }),
  },
};

export function registerInvitationAcceptance(app: HttpApp, services: AccountServices): void {
  // Public: the token in the path is the credential; a sign-in is checked below.
  const config = { public: true, rateLimit: ATTEMPTS } as const;
  app.post('/api/v1/invitations/:token/accept', { config, schema }, async (request) => {
    const { token } = request.params;
    const principal = await signedIn(services, request);
    const accepted =
      principal === null
        ? await services.acceptance.asNewUser(token, requireAccount(request.body ?? {}), request.ip)
        : await services.acceptance.asUser(token, principal.id);
    await auditAcceptance(services, request, accepted, principal);
    const { team, invitation, user, created } = accepted;
    return { team_uuid: team.uuid, team_name: team.name, role: invitation.role, created, user: toUserView(user) };
  });
}

/** Null if not signed in, also with the cookie of an ended session, which browsers keep sending. */
async function signedIn(services: AccountServices, request: FastifyRequest): Promise<Principal | null> {
  const isSecure = request.protocol === 'https';
  const shown = shownCredential(request.headers, isSecure);
  if (shown.kind === 'none') return null;
  try {
    const { headers, method, ip } = request;
    const principal = await services.access.authenticate({ headers, method, remoteAddress: ip, isSecure });
    await services.access.permit(principal, 'invitation:accept');
    return principal;
  } catch (error) {
    if (shown.kind === 'session' && isAppError(error) && error.status === 401) return null;
    throw error;
  }
}

function requireAccount(body: Static<typeof bodySchema>): { email: string; name: string; password: string } {
  const { email, name, password } = body;
  if (email !== undefined && name !== undefined && password !== undefined) return { email, name, password };
  const field = email === undefined ? 'email' : name === undefined ? 'name' : 'password';
  throw accountErrors.INVALID_REQUEST({
    details: { field, reason: `${field} is required without sign-in` },
  });
}

async function auditAcceptance(
  services: AccountServices,
  request: FastifyRequest,
  accepted: Accepted,
  principal: Principal | null,
): Promise<void> {
  const { invitation, team, user, created } = accepted;
  await services.audit.record({
    principal: principal ?? userPrincipal(user, 'session', null),
    action: 'invitation:accept',
    resource: `invitation/${invitation.id}`,
    workspaceUuid: null,
    outcome: 'success',
    status: 200,
    remoteAddress: request.ip,
    requestId: request.id,
    details: { team_uuid: team.uuid, invited_email: invitation.email, role: invitation.role, user_created: created },
  });
}
